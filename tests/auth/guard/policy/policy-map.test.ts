import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import t from 'tap'
import { PolicyMap } from '../../../../packages/auth/src/guard/policy/policy-map.ts'
import type { RegisteredRoute } from '../../../../packages/auth/src/guard/policy/registered-routes.ts'
import type { Policy } from '../../../../packages/auth/src/guard/policy/route-policy.ts'

const router = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
}

const route = (pattern: string, scopes?: unknown): RegisteredRoute => ({
  config: (scopes === undefined ? {} : { scopes }) as FastifyContextConfig,
  methods: ['GET'],
  patterns: [pattern],
  instance: {} as FastifyInstance,
})

const ROUTES = {
  api: route('/api/x'),
  open: route('/x'),
  scoped: route('/y', ['billing:read']),
  wildcard: route('/*'),
  optional: { ...route('/api/open'), patterns: ['/api/open', '/api/open/:id'] },
}

function makePolicies(routes: RegisteredRoute[] = Object.values(ROUTES)): PolicyMap {
  const options = {
    protectedPaths: ['/api'],
    excludePaths: ['/api/open'],
    managementBasePath: '/_auth',
    webhooksManagementPaths: ['/_webhooks'],
  }
  const policies = new PolicyMap(options, router)
  policies.addRoutes(routes, ['read', 'write', 'billing:read'])
  return policies
}

const request = (config: object, url: string, is404 = false) =>
  ({ routeOptions: { config }, raw: { url }, is404 }) as unknown as FastifyRequest

/** The scopes for a GET. */
const wordsOf = (policy: Policy): string =>
  policy.kind === 'open' ? 'open' : (policy.reading.scopes?.join('|') ?? 'any key')

t.test('the policy of a request is that of its route, or of its path', (t) => {
  const policies = makePolicies()
  const unknown = {}
  const cases: [about: string, request: FastifyRequest, words: string][] = [
    ['a protected route', request(ROUTES.api.config, '/api/x'), 'read|write'],
    ['the URL does not decide', request(ROUTES.api.config, '/x'), 'read|write'],
    ['a route outside the protected paths', request(ROUTES.open.config, '/x'), 'open'],
    ['scopes of its own', request(ROUTES.scoped.config, '/y'), 'billing:read'],
    ['an open path of two patterns', request(ROUTES.optional.config, '/api/open'), 'open'],
    ['the other one', request(ROUTES.optional.config, '/api/open/1'), 'read|write'],
    ['a wildcard, open path', request(ROUTES.wildcard.config, '/z'), 'open'],
    ['a wildcard, protected path', request(ROUTES.wildcard.config, '/api/z'), 'read|write'],
    ['a wildcard, encoded path', request(ROUTES.wildcard.config, '/%61pi/z'), 'read|write'],
    ['a wildcard, path in doubt', request(ROUTES.wildcard.config, '/a/..%2fapi'), 'read|write'],
    ['a 404 outside', request(unknown, '/z', true), 'open'],
    ['a protected 404', request(unknown, '/api/z', true), 'any key'],
    ['a 404 below the management path', request(unknown, '/_auth/z', true), 'any key'],
    ['a route that was not there at boot', request(unknown, '/z'), ''],
  ]
  for (const [about, asked, words] of cases)
    t.equal(wordsOf(policies.policyOf(asked)), words, about)
  t.end()
})

t.test('before a route is registered its policy is that of the strictest path', (t) => {
  const policies = makePolicies([])
  const config = { scopes: ['billing:read'] } as FastifyContextConfig
  t.equal(wordsOf(policies.policyBeforeRegistration('/x', undefined)), 'open')
  t.equal(wordsOf(policies.policyBeforeRegistration('/_auth/x', undefined)), 'auth:manage')
  t.equal(wordsOf(policies.policyBeforeRegistration('/*', undefined)), 'read|write')
  t.equal(wordsOf(policies.policyBeforeRegistration('/x', config)), 'billing:read')
  t.end()
})
