import t from 'tap'
import {
  pathRules,
  type Demand,
  type PathOptions,
} from '../../packages/auth/src/guard/policy/path-rules.ts'

const router = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  useSemicolonDelimiter: false,
}
const all: PathOptions = {
  protectedPaths: 'all',
  excludePaths: ['/health'],
  managementBasePath: '/_auth',
  webhooksManagementPaths: ['/_webhooks'],
}
const some: PathOptions = { ...all, protectedPaths: ['/api', '/admin/'] }
const none: PathOptions = { ...some, protectedPaths: [], managementBasePath: null }

t.test('a path is told by whole segments, exclusions by the whole path', (t) => {
  const cases: [PathOptions, string, Demand][] = [
    [all, '/health', 'open'],
    [all, '/health/', 'method'],
    [all, '/health/x', 'method'],
    [all, '/healthz', 'method'],
    [all, '/', 'method'],
    [all, '/_auth', 'auth:manage'],
    [all, '/_auth/users', 'auth:manage'],
    [all, '/_authx', 'method'],
    [all, '/_webhooks/1', 'webhooks:manage'],
    [some, '/api', 'method'],
    [some, '/api/', 'method'],
    [some, '/api/x', 'method'],
    [some, '/apix', 'open'],
    [some, '/admin', 'method'],
    [some, '/admin/x', 'method'],
    [some, '/x', 'open'],
    [some, '/_auth/users', 'auth:manage'],
    [some, '/_webhooks', 'webhooks:manage'],
    [none, '/_auth/users', 'open'],
    [none, '/_webhooks', 'webhooks:manage'],
    [{ ...all, excludePaths: ['/_webhooks/in'] }, '/_webhooks/in', 'open'],
    [{ ...none, protectedPaths: ['/'] }, '/anything', 'method'],
  ]
  for (const [options, path, demand] of cases) {
    t.equal(pathRules(options, router).ofPath(path), demand, path)
    t.equal(pathRules(options, router).ofPattern(path), demand, `${path} as a pattern`)
  }
  t.end()
})

t.test('a route is told by its own case, the path of a request by any', (t) => {
  const rules = pathRules(some, router)
  for (const path of ['/API', '/Api/x']) {
    t.equal(rules.ofPattern(path), 'open')
    t.equal(rules.ofPath(path), 'method')
  }
  t.equal(rules.ofPath('/_AUTH/users'), 'auth:manage')
  t.equal(pathRules(all, router).ofPath('/Health'), 'method', 'exclusions are exact')
  t.end()
})

t.test('a pattern with a parameter is told at boot only where every path agrees', (t) => {
  const cases: [PathOptions, string, Demand | undefined][] = [
    [all, '/users/:id', 'method'],
    [all, '/:name', undefined],
    [all, '/:tenant/health', undefined],
    [all, '/*', undefined],
    [all, '*', undefined],
    [all, '/he*', undefined],
    [all, '/hex/:id', 'method'],
    [all, '/_auth/:x', 'auth:manage'],
    [all, '/_auth:x', undefined],
    [all, '/_auth/*', 'auth:manage'],
    [all, '/files/:a-:b.png', 'method'],
    [all, '/a::b', 'method'],
    [all, '/health::/:id', 'method'],
    [some, '/api/*', 'method'],
    [some, '/api*', undefined],
    [some, '/public/*', 'open'],
    [some, '/ap:x', undefined],
    [some, '/AP:x', undefined],
    [some, '/API/:x', 'open'],
    [some, '/:version(^v\\d+$)/x', undefined],
    [none, '/public/*', 'open'],
  ]
  for (const [options, pattern, demand] of cases) {
    t.equal(pathRules(options, router).ofPattern(pattern), demand, pattern)
  }
  t.end()
})

t.test('paths are compared as the router compares them', (t) => {
  const lenient = {
    caseSensitive: false,
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    useSemicolonDelimiter: true,
  }
  const rules = pathRules({ ...some, excludePaths: ['/Health/'] }, lenient)
  t.equal(rules.ofPath('/health'), 'open')
  t.equal(rules.ofPattern('/HEALTH/'), 'open')
  t.equal(rules.ofPattern('/API//:id'), 'method')
  t.equal(rules.ofPattern('/_AUTH/x'), 'auth:manage')
  t.end()
})
