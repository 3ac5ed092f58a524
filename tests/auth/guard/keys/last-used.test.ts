import t from 'tap'
import { LastUsed } from '../../../../packages/auth/src/guard/keys/last-used.ts'
import { createCachedKey } from '../../../../packages/auth/src/guard/keys/cached-key.ts'
import { startHost } from '../../support/host.ts'

const quiet = { info() {}, warn() {} }

const key = (keyId: string | null) =>
  createCachedKey({ userId: 'u', scopes: [], bootstrap: keyId === null, keyId, tenant: null })

t.test('uses of a round are written together, one for each key', async (t) => {
  const written: string[][] = []
  const lastUsed = new LastUsed(async (uses) => void written.push([...uses.keys()]), quiet)
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
    async (uses) => void written.push(...Array.from(uses.values(), (at) => at.getTime())),
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

t.test('a host writes the uses that it noted when it closes', async (t) => {
  const first = await startHost(t, { after: (app) => void app.get('/me', async () => 'me') })
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
