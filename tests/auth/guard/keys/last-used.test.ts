import t from 'tap'
import { LastUsed } from '../../../../packages/auth/src/guard/keys/last-used.ts'
import { createCachedKey } from '../../../../packages/auth/src/guard/keys/key-cache.ts'
import { writeLastUsed } from '../../../../packages/auth/src/tables/api-keys.ts'
import { startHost, withMe } from '../../support/host.ts'
import { sessionOn } from '../../../support/session.ts'

const quiet = { info() {}, warn() {} }
const NONE_LOCKED: string[] = []

const key = (keyId: string | null) =>
  createCachedKey({ userId: 'u', scopes: [], bootstrap: keyId === null, keyId, tenant: null })

t.test('uses of a round are written together, one for each key', async (t) => {
  const written: string[][] = []
  const lastUsed = new LastUsed(async (uses) => {
    written.push([...uses.keys()])
    return NONE_LOCKED
  }, quiet)
  lastUsed.record(key('a'))
  lastUsed.record(key('b'))
  lastUsed.record(key('a'))
  lastUsed.record(key(null))
  await lastUsed.flush()
  await lastUsed.flush()
  t.same(written, [['a', 'b']])
})

t.test('a last use has the time of its first record in the round', async (t) => {
  const written: number[] = []
  const clock = { ms: 1_700_000_000_000 }
  const lastUsed = new LastUsed(
    async (uses) => {
      written.push(...Array.from(uses.values(), (at) => at.getTime()))
      return NONE_LOCKED
    },
    quiet,
    () => clock.ms,
  )
  lastUsed.record(key('a'))
  clock.ms += 5000
  await lastUsed.flush()
  lastUsed.record(key('a'))
  await lastUsed.flush()
  t.same(written, [1_700_000_000_000, 1_700_000_005_000])
})

t.test('uses that could not be written are part of the next batch', async (t) => {
  const written: string[][] = []
  let isAway = true
  const lastUsed = new LastUsed(async (uses) => {
    if (isAway) throw new Error('away')
    written.push([...uses.keys()])
    return NONE_LOCKED
  }, quiet)
  lastUsed.record(key('a'))
  await t.rejects(lastUsed.flush(), { message: 'away' })
  lastUsed.record(key('b'))
  isAway = false
  await lastUsed.flush()
  t.same(written, [['a', 'b']])
})

t.test(
  'many uses are written in portions, and a portion that fails is part of the next round',
  async (t) => {
    const written: string[] = []
    let portions = 0
    const lastUsed = new LastUsed(async (uses) => {
      portions++
      if (portions === 2) throw new Error('away')
      written.push(...uses.keys())
      return NONE_LOCKED
    }, quiet)
    const ids = Array.from({ length: 1200 }, (_, n) => String(n))
    for (const id of ids) lastUsed.record(key(id))
    await t.rejects(lastUsed.flush(), { message: 'away' })
    t.equal(written.length, 500)
    await lastUsed.flush()
    t.equal(portions, 4)
    t.same(written.toSorted(), ids.toSorted(), 'each once')
  },
)

t.test(
  'uses of locked keys are part of the next batch, with the time of a later use',
  async (t) => {
    const written: [id: string, ms: number][][] = []
    const clock = { ms: 1_700_000_000_000 }
    let locked = ['a', 'b']
    const write = async (uses: ReadonlyMap<string, Date>) => {
      written.push(Array.from(uses, ([id, at]) => [id, at.getTime()]))
      return locked
    }
    const lastUsed = new LastUsed(write, quiet, () => clock.ms)
    for (const id of ['a', 'b', 'c']) lastUsed.record(key(id))
    await lastUsed.flush()
    clock.ms += 5000
    lastUsed.record(key('b'))
    locked = []
    await lastUsed.flush()
    await lastUsed.flush()
    t.same(written.slice(1), [
      [
        ['a', 1_700_000_000_000],
        ['b', 1_700_000_005_000],
      ],
    ])
  },
)

t.test('a host writes the uses that it noted when it closes', async (t) => {
  const first = await startHost(t, { after: withMe })
  const used = await first.makeKey()
  const unused = await first.makeKey({ userId: used.userId })
  const before = Date.now()
  await first.ask('GET', '/me', { key: used.key })
  await first.app.close()

  const { database } = first
  const { ask } = await startHost(t, { database })
  const { body } = await ask('GET', `/_auth/users/${used.userId}/keys`)
  t.match(body, [
    { id: unused.id, lastUsedAt: null },
    { id: used.id, lastUsedAt: String },
  ])
  t.ok(Date.parse(body[1].lastUsedAt) >= before)
})

t.test('the last use of a key whose row is locked is written once it is free', async (t) => {
  const host = await startHost(t, { after: withMe })
  const { app, ask, database, makeKey } = host
  const [locked, free] = [await makeKey(), await makeKey()]
  const client = await sessionOn(t, database)
  await client.query('begin')
  await client.query('select from svc."__svc.auth.api_keys" where id = $1 for update', [locked.id])
  const before = Date.now()
  for (const { key } of [locked, free]) await ask('GET', '/me', { key })
  const used = Date.now()

  const lastUse = async ({ id }: { id: string }) => (await app.svc.auth.getApiKey(id)).lastUsedAt
  t.ok(await lastUse(free), 'those of other keys are written')
  t.equal(await lastUse(locked), null)
  await client.query('rollback')
  const at = Date.parse((await lastUse(locked)) ?? '')
  t.ok(at >= before && at <= used, 'the time of the use')
})

t.test('no time is kept of a key that is deleted', async (t) => {
  const { app, makeKey } = await startHost(t)
  const { id } = await makeKey()
  const at = new Date()
  const gone = '0190a1b2-0000-7000-8000-000000000000'
  const uses = new Map([
    [id, at],
    [gone, at],
  ])
  t.same(await writeLastUsed(app.svc.database, uses), [])
  t.equal((await app.svc.auth.getApiKey(id)).lastUsedAt, at.toISOString())
})
