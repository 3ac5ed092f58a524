import t from 'tap'
import {
  createPathRules,
  type Access,
  type PathOptions,
} from '../../../../packages/auth/src/guard/policy/path-rules.ts'

const router = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
}
const all: PathOptions = {
  protectedPaths: 'all',
  excludePaths: ['/health'],
  managementBasePath: '/_auth',
  webhooksManagementPaths: ['/_webhooks'],
}
const some: PathOptions = { ...all, protectedPaths: ['/api', '/admin/'] }
const none: PathOptions = { ...some, protectedPaths: [], managementBasePath: null }

t.test('a prefix matches whole segments, and an exclusion the whole path', (t) => {
  const cases: [PathOptions, string, Access][] = [
    [all, '/health', 'open'],
    [all, '/health/', 'by method'],
    [all, '/health/x', 'by method'],
    [all, '/healthz', 'by method'],
    [all, '/', 'by method'],
    [all, '/_auth', 'auth:manage'],
    [all, '/_auth/users', 'auth:manage'],
    [all, '/_authx', 'by method'],
    [all, '/_webhooks/1', 'webhooks:manage'],
    [some, '/api', 'by method'],
    [some, '/api/', 'by method'],
    [some, '/api/x', 'by method'],
    [some, '/apix', 'open'],
    [some, '/admin', 'by method'],
    [some, '/admin/x', 'by method'],
    [some, '/x', 'open'],
    [some, '/_auth/users', 'auth:manage'],
    [some, '/_webhooks', 'webhooks:manage'],
    [none, '/_auth/users', 'open'],
    [none, '/_webhooks', 'webhooks:manage'],
    [{ ...all, excludePaths: ['/_webhooks/in'] }, '/_webhooks/in', 'open'],
    [{ ...none, protectedPaths: ['/'] }, '/anything', 'by method'],
  ]
  for (const [options, path, access] of cases) {
    t.equal(createPathRules(options, router).ofPath(path), access, path)
    t.equal(createPathRules(options, router).ofPattern(path), access, `${path} as a pattern`)
  }
  t.end()
})

t.test('a route is matched in its own case, and the path of a request in any', (t) => {
  const rules = createPathRules(some, router)
  for (const path of ['/API', '/Api/x']) {
    t.equal(rules.ofPattern(path), 'open')
    t.equal(rules.ofPath(path), 'by method')
  }
  t.equal(rules.ofPath('/_AUTH/users'), 'auth:manage')
  t.equal(createPathRules(all, router).ofPath('/Health'), 'by method', 'exclusions are exact')
  t.end()
})

t.test('a pattern with a parameter has a policy at boot only where all its paths agree', (t) => {
  const cases: [PathOptions, string, Access | undefined][] = [
    [all, '/users/:id', 'by method'],
    [all, '/:name', undefined],
    [all, '/:tenant/health', undefined],
    [all, '/*', undefined],
    [all, '*', undefined],
    [all, '/he*', undefined],
    [all, '/hex/:id', 'by method'],
    [all, '/_auth/:x', 'auth:manage'],
    [all, '/_auth:x', undefined],
    [all, '/_auth/*', 'auth:manage'],
    [all, '/files/:a-:b.png', 'by method'],
    [all, '/a::b', 'by method'],
    [all, '/health::/:id', 'by method'],
    [some, '/api/*', 'by method'],
    [some, '/api*', undefined],
    [some, '/public/*', 'open'],
    [some, '/ap:x', undefined],
    [some, '/AP:x', undefined],
    [some, '/API/:x', 'open'],
    [some, '/:version(^v\\d+$)/x', undefined],
    [none, '/public/*', 'open'],
  ]
  for (const [options, pattern, access] of cases) {
    t.equal(createPathRules(options, router).ofPattern(pattern), access, pattern)
  }
  t.end()
})

t.test('paths are compared as the router compares them', (t) => {
  const lenient = {
    caseSensitive: false,
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
  }
  const rules = createPathRules({ ...some, excludePaths: ['/Health/'] }, lenient)
  t.equal(rules.ofPath('/health'), 'open')
  t.equal(rules.ofPattern('/HEALTH/'), 'open')
  t.equal(rules.ofPattern('/API//:id'), 'by method')
  t.equal(rules.ofPattern('/_AUTH/x'), 'auth:manage')
  t.end()
})
