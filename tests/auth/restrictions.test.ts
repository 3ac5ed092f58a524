import t from 'tap'
import {
  assertMayChange,
  assertMayGrant,
  isWider,
  type Powers,
} from '../../packages/auth/src/restrictions.ts'
import { createScopeNames } from '../../packages/auth/src/scopes.ts'

const names = createScopeNames(['billing:read', 'billing:write'], { viewer: ['billing:read'] })
const SOON = '2030-01-01T00:00:00.000Z'
const LATER = '2031-01-01T00:00:00.000Z'
const plain = { scopes: ['read'], expiresAt: null, allowedIps: null, limits: null, quota: null }
const grantor: Powers = { ...plain, scopes: ['auth:manage'] }
const OFFICE = ['192.0.2.0/24']

const SLOW = [{ limit: 10, perSeconds: 60 }]
const MONTHLY = { limit: 100, period: 'month' } as const

const REFUSED = { code: 'SVC_AUTH_NOT_GRANTABLE', statusCode: 403 }

t.test('a key grants other keys only scopes that it has itself', (t) => {
  const rows: [about: string, grantor: Partial<Powers>, given: object, refused?: typeof REFUSED][] =
    [
      ['nothing restricts it', {}, {}],
      ['an earlier expiry', { expiresAt: LATER }, { expiresAt: SOON }],
      ['the same expiry', { expiresAt: SOON }, { expiresAt: SOON }],
      ['a later expiry', { expiresAt: SOON }, { expiresAt: LATER }, REFUSED],
      ['no expiry', { expiresAt: SOON }, {}, REFUSED],
      ['a part of its networks', { allowedIps: OFFICE }, { allowedIps: ['192.0.2.7/32'] }],
      ['more networks', { allowedIps: OFFICE }, { allowedIps: ['192.0.0.0/16'] }, REFUSED],
      ['all networks', { allowedIps: OFFICE }, {}, REFUSED],
      ['the same limits', { limits: SLOW }, { limits: SLOW }],
      ['no limits', { limits: SLOW }, {}, REFUSED],
      ['a higher limit', { limits: SLOW }, { limits: [{ limit: 11, perSeconds: 60 }] }, REFUSED],
      ['a smaller quota', { quota: MONTHLY }, { quota: { limit: 99, period: 'month' } }],
      ['no quota', { quota: MONTHLY }, {}, REFUSED],
      ['with admin, no limits', { scopes: ['admin'], limits: SLOW }, {}, REFUSED],
      ['with admin, no expiry', { scopes: ['admin'], expiresAt: SOON }, {}, REFUSED],
      ['with admin, all networks', { scopes: ['admin'], allowedIps: OFFICE }, {}, REFUSED],
      ['a role that it holds', { scopes: ['role:viewer'] }, { scopes: ['role:viewer'] }],
      ['the scope of its role', { scopes: ['role:viewer'] }, { scopes: ['billing:read'] }],
      [
        'a namespace of which it holds a part',
        { scopes: ['billing:read'] },
        { scopes: ['billing:*'] },
        { code: 'SVC_AUTH_SCOPE_NOT_GRANTABLE', statusCode: 403 },
      ],
      ['a part of its namespace', { scopes: ['billing:*'] }, { scopes: ['billing:write'] }],
    ]
  for (const [about, has, given, refused] of rows) {
    const grant = () => assertMayGrant(names, { ...grantor, ...has }, { ...plain, ...given })
    if (refused) t.throws(grant, refused, about)
    else t.doesNotThrow(grant, about)
  }
  t.end()
})

t.test('a changed restriction is as strict as that of the caller', async (t) => {
  const limited: Powers = { ...grantor, limits: SLOW, expiresAt: SOON }
  const free = { ...plain, enabled: true }
  const limitOf = (limit: number) => [{ limit, perSeconds: 60 }]
  const rows: [about: string, before: object, after: object, refused?: typeof REFUSED][] = [
    ['the label of a key without limits', {}, {}],
    ['a limit where there was none', {}, { limits: limitOf(10) }],
    ['a higher limit where there was none', {}, { limits: limitOf(11) }, REFUSED],
    [
      'a limit between that of the key and its own',
      { limits: limitOf(20) },
      { limits: limitOf(15) },
      REFUSED,
    ],
    ['an expiry where there was none', {}, { expiresAt: SOON }],
    ['a later expiry where there was none', {}, { expiresAt: LATER }, REFUSED],
    ['to disable', {}, { enabled: false }],
    ['to enable', { enabled: false }, { enabled: true }, REFUSED],
  ]
  for (const [about, before, after, refused] of rows) {
    const change = () =>
      assertMayChange(names, limited, { ...free, ...before }, { ...free, ...before, ...after })
    if (refused) t.throws(change, refused, about)
    else t.doesNotThrow(change, about)
  }
})

t.test('a change of a key is wider where the key can do more after it', (t) => {
  const key = { ...plain, expiresAt: SOON, allowedIps: OFFICE, limits: SLOW, enabled: true }
  const rows: [after: object, isWider: boolean][] = [
    [{}, false],
    [{ scopes: [] }, false],
    [{ scopes: ['write'] }, true],
    [{ expiresAt: LATER }, true],
    [{ expiresAt: null }, true],
    [{ expiresAt: '2029-01-01T00:00:00.000Z' }, false],
    [{ allowedIps: null }, true],
    [{ allowedIps: ['192.0.2.1/32'] }, false],
    [{ enabled: false }, false],
    [{ limits: null }, true],
    [{ limits: [{ limit: 5, perSeconds: 60 }] }, false],
  ]
  for (const [after, wider] of rows) {
    t.equal(isWider(names, key, { ...key, ...after }), wider, JSON.stringify(after))
  }
  t.ok(isWider(names, { ...key, enabled: false }, key), 'it is enabled again')
  const admin = { ...key, scopes: ['admin'] }
  t.notOk(isWider(names, admin, { ...key, scopes: ['admin', 'billing:read'] }))
  t.end()
})
