import t from 'tap'
import { requirementOf } from '../../packages/auth/src/guard/guard.ts'
import { requirement } from '../../packages/auth/src/guard/policy/route-policy.ts'
import { resolveAuthOptions } from '../../packages/auth/src/options.ts'
import { createScopeNames, satisfies, SCOPE_NAME } from '../../packages/auth/src/scopes.ts'

t.test('any one of the required scopes is enough, and admin always is', (t) => {
  const cases: [held: string[], required: string[], is: boolean][] = [
    [['read'], ['read', 'write'], true],
    [['write'], ['read', 'write'], true],
    [['read'], ['write'], false],
    [['admin'], ['write'], true],
    [['admin'], ['billing:read'], true],
    [['admin'], [], true],
    [['read', 'write'], ['auth:manage'], false],
    [['auth:manage'], ['webhooks:manage'], false],
    [[], ['read'], false],
    [['read'], [], false],
    [['Admin'], ['read'], false],
  ]
  for (const [held, required, is] of cases) {
    t.equal(satisfies(held, required), is, `${held} for ${required}`)
  }
  t.end()
})

t.test('GET, HEAD and OPTIONS read, everything else writes', (t) => {
  const [reading, other] = [requirement(['read']), requirement(['write'])]
  const policy = { kind: 'guarded', isOptional: false, reading, other } as const
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    t.equal(requirementOf(policy, method), reading, method)
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'TRACE', 'PROPFIND', 'get']) {
    t.equal(requirementOf(policy, method), other, method)
  }
  t.end()
})

t.test('without admin only read, write and scopes of its own can be handed on', (t) => {
  const cases: [held: string[], wanted: string[], withheld: string[]][] = [
    [['auth:manage'], ['read', 'write'], []],
    [['auth:manage'], ['auth:manage'], []],
    [['auth:manage'], ['admin'], ['admin']],
    [['auth:manage'], ['read', 'webhooks:manage', 'x'], ['webhooks:manage', 'x']],
    [['auth:manage', 'x'], ['x'], []],
    [['admin'], ['admin', 'auth:manage', 'x'], []],
    [[], [], []],
  ]
  const names = createScopeNames(['x'], {})
  for (const [held, wanted, withheld] of cases) t.same(names.ungrantable(held, wanted), withheld)
  t.end()
})

t.test('a role is handed on by who holds it, or all of its scopes', (t) => {
  const roles = {
    viewer: ['read'],
    billing: ['read', 'x'],
    all: ['projects:*'],
    none: [],
    boss: ['admin'],
  }
  const names = createScopeNames(['x', 'projects:read', 'projects:write'], roles)
  const cases: [held: string[], wanted: string[], withheld: string[]][] = [
    [['auth:manage'], ['role:viewer', 'read'], ['role:viewer']],
    [['auth:manage', 'read'], ['role:viewer', 'role:billing'], ['role:billing']],
    [['auth:manage', 'role:billing'], ['role:billing', 'role:viewer', 'x'], []],
    [
      ['auth:manage', 'projects:read', 'projects:write'],
      ['role:all', 'projects:*'],
      ['role:all', 'projects:*'],
    ],
    [['auth:manage', 'projects:*'], ['role:all', 'projects:read'], []],
    // Whatever the host puts into it later, its holders would have.
    [['auth:manage', 'read', 'x', 'projects:*'], ['role:none'], ['role:none']],
    [['auth:manage', 'role:none'], ['role:none'], []],
    [['auth:manage', 'read'], ['role:boss'], ['role:boss']],
    [['role:boss'], ['role:none', 'role:billing', 'webhooks:manage'], []],
  ]
  for (const [held, wanted, withheld] of cases) {
    t.same(names.ungrantable(held, wanted), withheld, `${held} gives ${wanted}`)
  }
  const changes: [before: string[], after: string[], isMore: boolean][] = [
    [['read'], ['read'], false],
    [['read'], ['role:viewer'], true],
    [['read', 'x'], ['read', 'role:none'], true],
    [['admin'], ['x', 'read'], false],
    [['admin'], ['role:none'], true],
    [['role:billing'], ['read', 'x'], false],
    [['role:billing'], ['role:billing', 'write'], true],
  ]
  for (const [before, after, isMore] of changes) {
    t.equal(names.areMore(before, after), isMore, `${before} to ${after}`)
  }
  t.end()
})

t.test('a scope is named by words with colons between them', (t) => {
  for (const name of ['billing:read', 'a', 'A.b_c-d~e', 'a:b:c']) t.match(name, SCOPE_NAME)
  for (const name of ['', ':', 'a:', ':a', 'a b', 'a,b', 'ä', 'a"']) t.notMatch(name, SCOPE_NAME)
  t.end()
})

t.test('roles and namespaces are resolved to the scopes that they hold', (t) => {
  const own = ['projects:read', 'projects:write', 'projectsx:read']
  const roles = { viewer: ['read', 'projects:*'], none: [] }
  const names = createScopeNames(own, roles)
  const rows: [scopes: string[], held: string[]][] = [
    [['read'], ['read']],
    [['role:viewer'], ['read', 'projects:*', 'projects:read', 'projects:write']],
    [['role:none'], []],
    [
      ['projects:*', 'projects:read'],
      ['projects:*', 'projects:read', 'projects:write'],
    ],
    // Built in scopes are in no namespace.
    [
      ['audit:*', 'auth:*'],
      ['audit:*', 'auth:*'],
    ],
    // Scopes of a host with other options.
    [
      ['role:unknown', 'other:*'],
      ['role:unknown', 'other:*'],
    ],
    [['role:toString'], ['role:toString']],
  ]
  for (const [scopes, held] of rows) t.same(names.resolve(scopes), held, scopes.join())
  t.end()
})

t.test('a key can be given declared scopes, roles and namespaces only', (t) => {
  const names = createScopeNames(['projects:read'], { viewer: ['read'] })
  for (const known of ['admin', 'auth:verify', 'projects:read', 'projects:*', 'role:viewer']) {
    t.equal(names.findUnknown(['read', known]), undefined, known)
  }
  for (const unknown of ['role:nobody', 'other:*', 'auth:*', '*', ':*', 'projects*', 'viewer']) {
    t.equal(names.findUnknown(['read', unknown]), unknown, unknown)
  }
  t.end()
})

t.test('roles are lists of scopes by their names', (t) => {
  for (const roles of [[], { viewer: 'read' }, { 'a viewer': ['read'] }]) {
    t.throws(() => resolveAuthOptions({ roles }), {
      code: 'SVC_CORE_INVALID_OPTION',
      message: /"roles"/,
    })
  }
  t.throws(() => resolveAuthOptions({ roles: { viewer: ['unknown'] } }), { message: /viewer/ })
  t.end()
})
