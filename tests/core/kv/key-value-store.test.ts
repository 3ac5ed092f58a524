import t from 'tap'
import { sweepExpired } from '../../../packages/core/src/kv/kv-table.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

const values = [null, 0, -1.5, true, '', 'text', 'é 🙂', [1, [2]], { a: { b: null } }]

t.test('a value is read as it was written', async (t) => {
  const { kv } = (await startHost(t)).app.svc
  t.equal(await kv.get('a'), undefined)
  for (const value of values) {
    await kv.set('a', value)
    t.strictSame(await kv.get('a'), value)
  }
  t.equal(await kv.delete('a'), true)
  t.equal(await kv.delete('a'), false)
  t.equal(await kv.get('a'), undefined)
})

t.test('of many setIfAbsent calls at once, one resolves to true', async (t) => {
  const { app, database } = await startHost(t)
  const other = await startHost(t, { database })
  const claims = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      (i % 2 ? app : other.app).svc.kv.setIfAbsent('k', i, { ttlSeconds: 60 }),
    ),
  )
  t.equal(claims.filter(Boolean).length, 1)
  t.equal(await app.svc.kv.get('k'), claims.indexOf(true))
})

t.test('increments made at the same time are each counted once', async (t) => {
  const { app, database } = await startHost(t)
  const other = await startHost(t, { database })
  const sums = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 ? app : other.app).svc.kv.increment('n')),
  )
  t.strictSame(
    sums.toSorted((a, b) => a - b),
    Array.from({ length: 40 }, (_, i) => i + 1),
  )
  t.equal(await app.svc.kv.increment('n', { by: -40 }), 0)
  t.equal(await app.svc.kv.increment('n', { by: 0.5 }), 0.5)
})

t.test('an expired entry is invisible at once to every method', async (t) => {
  const { app } = await startHost(t)
  const { kv, database } = app.svc
  const expire = () =>
    database.query(`update svc."__svc.kv" set expires_at = now() - interval '1 second'`)
  await kv.set('a', 1, { ttlSeconds: 60 })
  t.equal(await kv.get('a'), 1)
  await expire()
  t.equal(await kv.get('a'), undefined)
  t.equal(await kv.delete('a'), false)
  await kv.set('a', 1, { ttlSeconds: 60 })
  await expire()
  t.equal(await kv.setIfAbsent('a', 2), true)
  t.equal(await kv.setIfAbsent('a', 3), false)
  await kv.set('a', 5, { ttlSeconds: 60 })
  await expire()
  t.equal(await kv.increment('a', { ttlSeconds: 60 }), 1, 'counting starts anew')
  await until(
    async () =>
      (await kv.setIfAbsent('short', 1, { ttlSeconds: 0.05 })) && (await kv.get('short')) === 1,
  )
  await until(async () => (await kv.get('short')) === undefined)
})

t.test('later increments do not prolong the time of the first', async (t) => {
  const { kv, database } = (await startHost(t)).app.svc
  const expiry = async () =>
    (await database.query(`select expires_at::text as at from svc."__svc.kv"`)).rows[0].at
  await kv.increment('n', { ttlSeconds: 60 })
  const first = await expiry()
  t.equal(await kv.increment('n', { ttlSeconds: 3600 }), 2)
  t.equal(await expiry(), first)
  await kv.set('n', 1)
  t.equal(await expiry(), null, 'a set without a time takes it away')
})

t.test('the sweep deletes what has expired and leaves the rest', async (t) => {
  // Without workers: the host's own sweep would skip what this one deletes, and this one what that deletes.
  const { kv, database } = (await startHost(t, { core: { worker: { enabled: false } } })).app.svc
  await database.query(
    `insert into svc."__svc.kv" select n::text, '1', now() - interval '1 second' from generate_series(1, 5001) as n`,
  )
  await kv.set('lasting', 1)
  await kv.set('living', 1, { ttlSeconds: 60 })
  await sweepExpired(database)
  const { rows } = await database.query(`select key from svc."__svc.kv" order by key`)
  t.strictSame(rows, [{ key: 'lasting' }, { key: 'living' }])
})

t.test('changes of entries belong to the transaction that is given', async (t) => {
  const { core, app } = await startHost(t)
  const { kv } = app.svc
  await t.rejects(
    core.transaction(async (db) => {
      await kv.set('a', 1, { db })
      t.equal(await kv.setIfAbsent('b', 1, { db }), true)
      t.equal(await kv.increment('c', { db }), 1)
      t.equal(await kv.get('a', { db }), 1)
      t.equal(await kv.delete('a', { db }), true)
      throw new Error('no')
    }),
  )
  for (const key of ['a', 'b', 'c']) t.equal(await kv.get(key), undefined)
})

t.test('a key, value or time that cannot be stored is refused', async (t) => {
  const { kv } = (await startHost(t)).app.svc
  const code = 'SVC_CORE_INVALID_ENTRY'
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  for (const key of ['', 'x'.repeat(1025), 'a\0b', '\udc00', 5 as never]) {
    await t.rejects(kv.get(key), { code, message: /^a key is a string of 1 to 1024/ })
  }
  for (const ttlSeconds of [0, -1, Number.NaN, Infinity, 1e12, '5' as never]) {
    await t.rejects(kv.set('a', 1, { ttlSeconds }), { code, message: /^ttlSeconds must be/ })
  }
  for (const value of [undefined, () => {}, 5n, cyclic]) {
    await t.rejects(kv.set('a', value), {
      code,
      message: /^a value must be something that JSON can write/,
    })
  }
  await t.rejects(kv.set('a', 'x\0y'), { code, message: /^Postgres cannot keep that: / })
  await kv.set('text', 'no number')
  await t.rejects(kv.increment('text'), { code, message: /^Postgres cannot keep that: / })
  await t.rejects(kv.increment('a', { by: Number.NaN }), { code, message: 'by must be a number' })
})

t.test('a key that is too long for an index is refused, and the longest is kept', async (t) => {
  const { kv } = (await startHost(t)).app.svc
  // Postgres would compress characters that repeat themselves.
  const chinese = (length: number): string =>
    Array.from({ length }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000))).join('')
  const longest = `${chinese(833)}x`
  t.equal(Buffer.byteLength(longest), 2500)
  await kv.set(longest, 1)
  t.equal(await kv.get(longest), 1)
  for (const key of [`${longest}x`, chinese(1024)]) {
    for (const work of [kv.set(key, 1), kv.get(key), kv.setIfAbsent(key, 1), kv.increment(key)]) {
      await t.rejects(work, { code: 'SVC_CORE_INVALID_ENTRY', message: /at most 2500 bytes/ })
    }
  }
})
