import { mock } from 'node:test'
import t from 'tap'
import { CacheLease } from '../../../../packages/auth/src/guard/keys/cache-lease.ts'
import type {
  KeyChanges as Changes,
  Revision,
} from '../../../../packages/auth/src/tables/key-changes.ts'

/** Postgres as a lease sees it: readings that the test answers one by one. */
function makeLease() {
  const readings: { since: Revision; answer: (changes: Changes) => void; fail: () => void }[] = []
  const forgotten: (readonly string[] | null)[] = []
  const clock = { ms: 1000 }
  const logged: string[] = []
  const write = (_details: object, message: string) => void logged.push(message)
  const log = { info: write, warn: write }
  const lease = new CacheLease({
    readKeyChanges: (since) =>
      new Promise((resolve, reject) => {
        readings.push({ since, answer: resolve, fail: () => reject(new Error('away')) })
      }),
    forget: (hashes) => void forgotten.push(hashes),
    refresh: async () => {},
    log,
    now: () => clock.ms,
  })
  return { lease, readings, forgotten, clock, logged }
}

t.test('a lease is held for a moment from when the reading was sent', async (t) => {
  const { lease, readings, clock } = makeLease()
  t.notOk(lease.isHeld())
  const renewed = lease.renew()
  clock.ms += 300
  readings[0]?.answer({ revision: 7, mark: 7, changed: null })
  await renewed
  t.ok(lease.isHeld())
  clock.ms += 599
  t.ok(lease.isHeld())
  clock.ms += 1
  t.notOk(lease.isHeld(), '900 ms after it was sent')
})

t.test('a lease is not prolonged by a reading that was answered too late', async (t) => {
  const { lease, readings, clock } = makeLease()
  const renewed = lease.renew()
  clock.ms += 900
  readings[0]?.answer({ revision: 7, mark: 7, changed: null })
  await renewed
  t.notOk(lease.isHeld())
})

t.test('a slow reading of key changes does not keep the next one from being sent', async (t) => {
  const { lease, readings, clock } = makeLease()
  const slow = lease.renew()
  clock.ms += 400
  const quick = lease.renew()
  t.equal(readings.length, 2)
  readings[1]?.answer({ revision: 1, mark: 1, changed: null })
  await quick
  t.ok(lease.isHeld())
  readings[0]?.fail()
  await t.rejects(slow)
  t.ok(lease.isHeld())
})

t.test('a lease is not prolonged by a reading that failed', async (t) => {
  const { lease, readings } = makeLease()
  const renewed = lease.renew()
  readings[0]?.fail()
  await t.rejects(renewed, { message: 'away' })
  t.notOk(lease.isHeld())
})

t.test('requests that renew the lease at the same time share one reading', async (t) => {
  const { lease, readings } = makeLease()
  const all = Promise.all([lease.renew(), lease.renew(), lease.renew()])
  readings[0]?.answer({ revision: 1, mark: 1, changed: [] })
  await all
  t.equal(readings.length, 1)
})

t.test('a changed key is forgotten once, in whatever order readings arrive', async (t) => {
  const { lease, readings, forgotten } = makeLease()
  const read = async (changes: Changes) => {
    const renewed = lease.renew()
    readings.at(-1)?.answer(changes)
    await renewed
  }
  await read({ revision: 5, mark: 5, changed: null })
  await read({ revision: 5, mark: 5, changed: [] })
  await read({ revision: 6, mark: 6, changed: ['a'] })
  t.same(forgotten, [null, ['a']])
  t.equal(readings.at(-1)?.since.revision, 5)

  lease.start()
  t.teardown(() => lease.stop())
  lease.wake()
  lease.wake()
  const [slow, quick] = readings.slice(-2)
  quick?.answer({ revision: 8, mark: 8, changed: ['b', 'c'] })
  await new Promise((resolve) => setImmediate(resolve))
  slow?.answer({ revision: 7, mark: 7, changed: ['b'] })
  await new Promise((resolve) => setImmediate(resolve))
  t.same(forgotten, [null, ['a'], ['b', 'c']])
})

t.test(
  'a cache that is too far behind, or whose database was set back, is forgotten as a whole',
  async (t) => {
    const { lease, readings, forgotten } = makeLease()
    for (const changes of [
      { revision: 5, mark: 5, changed: null },
      { revision: 900, mark: 900, changed: null },
      { revision: 3, mark: 3, changed: [] },
    ]) {
      const renewed = lease.renew()
      readings.at(-1)?.answer(changes)
      await renewed
    }
    t.same(forgotten, [null, null, null])
    t.equal(readings.at(-1)?.since.revision, 900)
  },
)

t.test('after what was read last was lost, the cache is forgotten as a whole', async (t) => {
  const { lease, readings, forgotten } = makeLease()
  for (const changes of [
    { revision: 5, mark: 0.5, changed: null },
    // Changes after the fifth were lost with the first server, and another one has others.
    { revision: 5, mark: 0.6, changed: null },
    { revision: 6, mark: 0.7, changed: ['a'] },
  ]) {
    const renewed = lease.renew()
    readings.at(-1)?.answer(changes)
    await renewed
  }
  t.same(forgotten, [null, null, ['a']])
})

t.test(
  'a lease is not renewed while there are no requests, and the next request renews it',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] })
    t.teardown(() => mock.timers.reset())
    let readings = 0
    const lease = new CacheLease({
      readKeyChanges: async () => {
        readings++
        return { revision: 1, mark: 1, changed: [] }
      },
      forget: () => {},
      refresh: async () => {},
      log: { info: () => {}, warn: () => {} },
      now: () => Date.now(),
    })
    const pass = async (seconds: number) => {
      for (let ms = 0; ms < seconds * 1000; ms += 400) {
        mock.timers.tick(400)
        await new Promise(setImmediate)
      }
    }
    await lease.renew()
    lease.start()
    t.ok(lease.isHeld())
    await pass(20)
    t.ok(lease.isHeld(), 'the lease is renewed')
    await pass(40)
    t.ok(lease.isPaused)
    const before = readings
    await pass(60)
    lease.wake()
    await pass(60)
    t.equal(readings, before)

    t.notOk(lease.isHeld())
    await lease.renew()
    t.ok(lease.isHeld())
    await pass(20)
    t.ok(lease.isHeld(), 'it is renewed again')
    lease.stop()
  },
)
