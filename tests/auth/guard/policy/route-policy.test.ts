import t from 'tap'
import { createPathRules } from '../../../../packages/auth/src/guard/policy/path-rules.ts'
import {
  policyOfNotFound,
  policyOfPath,
  policyOfRoute,
  type RoutePolicy,
} from '../../../../packages/auth/src/guard/policy/route-policy.ts'

const rules = createPathRules(
  {
    protectedPaths: ['/api'],
    excludePaths: ['/health', '/api/open'],
    managementBasePath: '/_auth',
    webhooksManagementPaths: ['/_webhooks'],
  },
  {
    caseSensitive: true,
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
  },
)

/** What a policy asks for, in words. */
function told(policy: RoutePolicy): string {
  if (policy.kind !== 'guarded') return policy.kind
  const [reading, other] = [policy.reading, policy.other].map(
    ({ scopes }) => scopes?.join('|') ?? 'any key',
  )
  return reading === other ? String(reading) : `${reading}, else ${other}`
}

t.test('the policy of a route is that of its path, or the scopes of its config', (t) => {
  const cases: [patterns: string[], scopes: string[] | undefined, told: string][] = [
    [['/x'], undefined, 'open'],
    [['/api/x'], undefined, 'read|write, else write'],
    [['/api/open'], undefined, 'open'],
    [['/_auth/x'], undefined, 'auth:manage'],
    [['/_webhooks/x'], undefined, 'webhooks:manage'],
    [['/x'], ['billing:read'], 'billing:read'],
    [['/health'], ['billing:read', 'read'], 'billing:read|read|write'],
    [['/api/x'], [], ''],
    [['/_auth/x'], ['write'], 'write'],
    [['/*'], undefined, 'by path'],
    [['/*'], ['read'], 'read|write'],
    [['/api/a', '/api/a/:id'], undefined, 'read|write, else write'],
    [['/api/:id'], undefined, 'by path'],
    [['/api/open', '/api/open/:id'], undefined, 'by path'],
  ]
  for (const [patterns, scopes, expected] of cases) {
    t.equal(told(policyOfRoute(patterns, scopes, rules)), expected, patterns.join(' '))
  }
  t.end()
})

t.test('a path that cannot be read in one way only counts as protected', (t) => {
  t.equal(told(policyOfPath('/x', rules)), 'open')
  t.equal(told(policyOfPath('/_auth/x', rules)), 'auth:manage')
  t.equal(told(policyOfPath(undefined, rules)), 'read|write, else write')
  t.end()
})

t.test('a protected path without a route needs any valid key', (t) => {
  t.equal(told(policyOfNotFound('/x', rules)), 'open')
  t.equal(told(policyOfNotFound('/api/open', rules)), 'open')
  t.equal(told(policyOfNotFound('/api/x', rules)), 'any key')
  t.equal(told(policyOfNotFound('/_auth/x', rules)), 'any key')
  t.equal(told(policyOfNotFound(undefined, rules)), 'any key')
  t.end()
})

t.test('changing the list of scopes of a route later does not change its policy', (t) => {
  const scopes = ['billing:read']
  const policy = policyOfRoute(['/x'], scopes, rules)
  scopes.push('read')
  t.equal(told(policy), 'billing:read')
  t.end()
})
