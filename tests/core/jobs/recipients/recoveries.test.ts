/** Recoveries that the runner carries out, and a host that closes meanwhile. */
import { listRecoveries, type Core, type Worker } from '@svc/core/internal'
import t from 'tap'
import { WorkRunner } from '../../../../packages/core/src/jobs/recipients/work-runner.ts'
import { openDatabase } from '../../../../packages/core/src/postgres/pools.ts'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'
import { NO_RECOVERY, QUEUE, RECIPIENT, RETRY } from '../../support/worker.ts'

type RecoverMissed = NonNullable<Worker['recovery']>['recoverMissed']

const workerOf = (recoverMissed: RecoverMissed): Worker => ({
  queue: QUEUE,
  concurrency: 1,
  prepare: async () => () => null,
  perform: async () => ({ kind: 'completed' }),
  recovery: { ...NO_RECOVERY, recoverMissed },
})

const recovering = (recoverMissed: RecoverMissed) => async (_app: unknown, core: Core) => {
  await core.queues.define(QUEUE)
  core.work(workerOf(recoverMissed))
}

/** A portion that ends only when its next statement fails. */
function endlessPortion() {
  const begun = Promise.withResolvers<void>()
  const portion: RecoverMissed = async (db) => {
    for (;;) {
      await db.query('select pg_sleep(0.02)')
      begun.resolve()
    }
  }
  return { portion, begun: begun.promise }
}

const THREE: RecoverMissed = async () => ({ done: 3, isFinished: true })

/** Begins a recovery of what is missing. Returns its id. */
async function beginRecovery(core: Core, perSecond: number | null = null): Promise<string> {
  const asked = { queue: QUEUE, recipient: RECIPIENT, what: 'missing' as const, perSecond }
  const span = { since: '2020-01-01T00:00:00Z', until: null }
  const { id } = await core.transaction((db) => core.queues.recover(db, { ...asked, ...span }))
  return id
}

const recoveriesOf = (core: Core) => listRecoveries(core.db, QUEUE, { recipient: RECIPIENT })

t.test('a portion under way as the host closes is left to another process', async (t) => {
  const { portion, begun } = endlessPortion()
  const { app, core, database, log } = await startHost(t, { setUp: recovering(portion) })
  const id = await beginRecovery(core)
  core.queues.recipientsChanged(QUEUE)
  await begun
  const closedAt = performance.now()
  await app.close()
  t.ok(performance.now() - closedAt < 9900, 'before the time for attempts under way is over')
  t.notOk(log.find(({ msg }) => String(msg).startsWith('could not move jobs')))

  const other = await startHost(t, { database, setUp: recovering(THREE) })
  const [finished] = await until(
    () => recoveriesOf(other.core),
    ([recovery]) => recovery?.finishedAt !== null,
  )
  t.match(finished, { id, done: 3 })
})

t.test('a close does not wait for a recovery that a periodic task waits for', async (t) => {
  const { core: first, database } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  await beginRecovery(first)
  const { portion, begun } = endlessPortion()
  // The first run of each periodic task is at a random moment: here, at once.
  const random = t.intercept(Math, 'random', { value: () => 0 })
  const { app } = await startHost(t, { database, setUp: recovering(portion) })
  await begun
  await app.close()
  random.restore()
  t.match(await recoveriesOf(first), [{ done: 0, finishedAt: null }])
})

t.test('a recovery is carried out that begins as the runner is about to end', async (t) => {
  const { core, database } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const pools = await openDatabase(database, () => {})
  t.teardown(() => pools.close())
  let transactions = 0
  const transaction: typeof pools.db.transaction = async (run, terms) => {
    const result = await pools.db.transaction(run, terms)
    // One looks for work, and one for the time of the next.
    if (++transactions === 2) {
      await beginRecovery(core)
      void runner.run()
    }
    return result
  }
  const log = { info() {}, error: (details: object) => t.fail('error', details) }
  const runner = new WorkRunner({ transaction }, RETRY, log, () => {})
  runner.addWorker(workerOf(THREE))
  await runner.run()
  t.match(await recoveriesOf(core), [{ done: 3, finishedAt: String }])
  await runner.close()
})

t.test(
  'with a pace of its own a recovery has small portions, and the pumps hear of each',
  async (t) => {
    const { core, database } = await startHost(t, {
      core: { worker: { enabled: false } },
      setUp: (_app, core) => core.queues.define(QUEUE),
    })
    const pools = await openDatabase(database, () => {})
    t.teardown(() => pools.close())
    for (const [perSecond, portion] of [
      [1, 1],
      [10, 3],
      [400, 100],
      [10_000, 500],
      [null, 500],
    ] as const) {
      const limits: number[] = []
      const told: string[][] = []
      const recoverMissed: RecoverMissed = async (_db, _recovery, limit) => {
        limits.push(limit)
        return { done: limit, isFinished: limits.length === 2 }
      }
      const log = { info() {}, error: (details: object) => t.fail('error', details) }
      const runner = new WorkRunner(pools.db, RETRY, log, (...about) => told.push(about))
      runner.addWorker(workerOf(recoverMissed))
      await beginRecovery(core, perSecond)
      await runner.run()
      await until(
        () => recoveriesOf(core),
        (recoveries) => recoveries.every(({ finishedAt }) => finishedAt !== null),
      )
      await runner.close()
      t.same(limits, [portion, portion], `${perSecond} a second`)
      t.same(told, [
        [QUEUE, RECIPIENT],
        [QUEUE, RECIPIENT],
      ])
    }
  },
)
