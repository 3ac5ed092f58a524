import { randomUUID } from 'node:crypto'
import t, { type Test as Tap } from 'tap'
import { Lockout } from '../../../../packages/auth/src/guard/lockout/lockout.ts'
import {
  countFailure,
  shiftFailures,
  sweepFailures,
} from '../../../../packages/auth/src/tables/lockouts.ts'
import { startHost } from '../../support/host.ts'
import { watchStatements } from '../../support/statements.ts'

const limit = { maxAttempts: 2, windowMs: 60_000, blockDurationMs: 60_000 }
const PREFIX = 'svc_abcd'

/** Two processes on one database, with a clock that the test sets. */
async function twoLimiters(t: Tap) {
  const { app } = await startHost(t)
  const { database } = app.svc
  const clock = { ms: 1000 }
  const now = () => clock.ms
  const here = new Lockout(database, database, limit, { now })
  const there = new Lockout(database, database, limit, { now })
  await here.refresh()
  /** Makes what was counted `seconds` older. */
  const age = async (seconds: number) => {
    clock.ms += seconds * 1000
    await shiftFailures(database, seconds)
  }
  return { app, database, here, there, age }
}

t.test('the failures of a prefix are polled while its key is used', async (t) => {
  const { app } = await startHost(t)
  const { database } = app.svc
  const lockout = new Lockout(database, database, limit)
  await lockout.refresh()
  const state = await lockout.recordSuccess(PREFIX)
  t.equal(state.needsDatabaseCheck, false)
  t.equal(await lockout.recordSuccess(PREFIX), state, 'one state for all keys of a prefix')

  for (let i = 0; i < 100; i++) await lockout.refresh()
  state.lastUsedTick = lockout.tick
  for (let i = 0; i < 100; i++) await lockout.refresh()
  t.equal(state.needsDatabaseCheck, false)
  for (let i = 0; i < 100; i++) await lockout.refresh()
  t.equal(state.needsDatabaseCheck, true, 'its keys have to ask again')

  const anew = await lockout.recordSuccess(PREFIX)
  t.not(anew, state)
  t.equal(anew.needsDatabaseCheck, false)
})

t.test('failures, blocks and ends of blocks of other processes are read', async (t) => {
  const { here, there, age } = await twoLimiters(t)
  const state = await here.recordSuccess(PREFIX)

  t.equal(await there.recordFailure(PREFIX), 0)
  await here.refresh()
  t.match(state, { needsDatabaseCheck: true, hasFailures: true })
  t.equal(here.blockedForMs(PREFIX), 0)

  t.equal(await there.recordFailure(PREFIX), 0)
  t.ok((await there.recordFailure(PREFIX)) > 0)
  await here.refresh()
  t.ok(here.blockedForMs(PREFIX) > 0)
  await here.recordSuccess(PREFIX)
  t.ok(here.blockedForMs(PREFIX) > 0, 'a good key does not end a block')

  await age(61)
  t.equal(here.blockedForMs(PREFIX), 0)
  await here.recordSuccess(PREFIX)
  t.match(state, { needsDatabaseCheck: false, hasFailures: false })
  t.equal(await there.recordFailure(PREFIX), 0, 'counting starts anew')
  t.equal(there.blockedForMs(PREFIX), 0)
})

t.test('a failure counts as long as it is in the sliding window', async (t) => {
  const { here, age } = await twoLimiters(t)
  t.equal(await here.recordFailure(PREFIX), 0)
  await age(40)
  t.equal(await here.recordFailure(PREFIX), 0)
  t.ok((await here.recordFailure(PREFIX)) > 0, 'both were in the window: blocked')

  t.equal(await here.recordFailure('svc_efgh'), 0)
  await age(61)
  t.equal(await here.recordFailure('svc_efgh'), 0)
  t.equal(here.blockedForMs('svc_efgh'), 0, 'the first has left the window')
})

t.test('a failure of another process is read however late its transaction commits', async (t) => {
  const { app, database, here } = await twoLimiters(t)
  const state = await here.recordSuccess(PREFIX)
  const slow = await database.connect()
  await slow.query('begin')
  await countFailure(slow, PREFIX, randomUUID(), limit)
  // Later transactions commit, and polls pass, while the first is open.
  await countFailure(app.svc.database, 'svc_efgh', randomUUID(), limit)
  await here.refresh()
  await here.refresh()
  t.equal(state.needsDatabaseCheck, false)
  await slow.query('commit')
  slow.release()
  await here.refresh()
  t.match(state, { needsDatabaseCheck: true, hasFailures: true })
})

t.test('a failure that arrives while its prefix is read or forgotten is not lost', async (t) => {
  const { app, here, there } = await twoLimiters(t)
  const { promise: until, resolve: release } = Promise.withResolvers<void>()
  const watched = watchStatements(app)
  watched.held = { matching: /where prefix = any/, until }
  const first = here.recordSuccess(PREFIX)
  while (!watched.answered.some((text) => text.includes('where prefix = any'))) await here.refresh()
  await there.recordFailure(PREFIX)
  await here.refresh()
  watched.held = undefined
  release()
  // Its failure is forgotten at once: the key is good.
  const state = await first
  t.match(state, { needsDatabaseCheck: false, changes: 1 })

  await there.recordFailure(PREFIX)
  await here.refresh()
  const late = Promise.withResolvers<void>()
  watched.held = { matching: /with forgotten/, until: late.promise }
  const answered = watched.answered.length
  const forgetting = here.recordSuccess(PREFIX)
  while (!watched.answered.slice(answered).some((text) => text.includes('with forgotten'))) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  while (state.changes < 3) {
    await there.recordFailure(PREFIX)
    await here.refresh()
  }
  watched.held = undefined
  late.resolve()
  await forgetting
  t.equal(state.needsDatabaseCheck, true)
})

t.test('a poll reads what changed, however many prefixes are watched', async (t) => {
  const { app, here, there } = await twoLimiters(t)
  const prefixes = Array.from({ length: 3000 }, (_, n) => `k${n}`)
  await Promise.all(prefixes.map((prefix) => here.recordSuccess(prefix)))
  const read: number[] = []
  // The host's own tasks use the pool, too.
  const { database } = app.svc
  const query = database.query.bind(database) as (
    ...args: unknown[]
  ) => Promise<{ rows: unknown[] }>
  Object.assign(database, {
    async query(...args: unknown[]) {
      const answer = await query(...args)
      if (String(args[0]).includes('failing_prefixes'))
        read.push(JSON.stringify(args).length, answer.rows.length)
      return answer
    },
  })
  await here.refresh()
  t.equal(read.length, 2, 'one statement')
  t.ok((read[0] ?? Infinity) < 2000, 'that names no prefix')
  t.equal(read[1], 1, 'and answers with the snapshot alone')
  await there.recordFailure('k2000')
  await here.refresh()
  t.equal((await here.recordSuccess('k2000')).changes, 1)
})

t.test('rows whose block or window has ended are swept', async (t) => {
  const { database, here, age } = await twoLimiters(t)
  const prefixes = async () =>
    (await database.query('select prefix from svc."__svc.auth.failing_prefixes"')).rows
  await here.recordFailure('svc_old1')
  await age(61)
  await here.recordFailure('svc_new1')
  await sweepFailures(database)
  t.same(await prefixes(), [{ prefix: 'svc_new1' }])
})
