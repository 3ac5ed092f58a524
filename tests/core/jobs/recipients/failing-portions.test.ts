/** Work on jobs that cannot be carried out, beside others that can. */
import { listRecoveries, type Core, type Worker } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { insertWork } from '../../../../packages/core/src/jobs/recipients/work-table.ts'
import { WorkRunner } from '../../../../packages/core/src/jobs/recipients/work-runner.ts'
import { openDatabase } from '../../../../packages/core/src/postgres/pools.ts'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'
import { NO_RECOVERY, QUEUE, RETRY, idOf } from '../../support/worker.ts'

const BROKEN = '00000000-0000-4000-8000-00000000000b'
const SOUND = '00000000-0000-4000-8000-00000000000c'

/**
 * A runner of its own over a queue, and the errors that it logs. Of the recipient BROKEN all fails with
 * `error`. Transactions roll back with it where `losesCommit` says so.
 */
async function runnerThatFails(t: Test, error: Error, losesCommit = () => false) {
  const { core, database: url } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const pools = await openDatabase(url, () => {})
  t.teardown(() => pools.close())
  const errors: { details: Record<string, unknown>; message: string }[] = []
  const log = {
    info() {},
    error: (details: object, message: string) =>
      void errors.push({ details: details as Record<string, unknown>, message }),
  }
  const db: Pick<typeof pools.db, 'transaction'> = {
    transaction: (work, terms) =>
      pools.db.transaction(async (db) => {
        const result = await work(db)
        if (losesCommit()) throw error
        return result
      }, terms),
  }
  const runner = new WorkRunner(db, RETRY, log, () => {})
  t.teardown(() => runner.close())
  const failOf = (recipient: string | null) => {
    if (recipient === BROKEN) throw error
  }
  const worker: Worker = {
    queue: QUEUE,
    concurrency: 1,
    prepare: async () => () => null,
    perform: async () => ({ kind: 'completed' }),
    recovery: {
      ...NO_RECOVERY,
      async recoverMissed(_db, { recipient }) {
        failOf(recipient)
        return { done: 3, isFinished: true }
      },
      async recordDiscarded(_db, jobs) {
        for (const { recipient } of jobs) failOf(recipient)
      },
    },
  }
  runner.addWorker(worker)
  return { core, runner, errors }
}

async function beginRecovery(core: Core, recipient: string): Promise<void> {
  const asked = { queue: QUEUE, recipient, what: 'missing' as const, perSecond: null }
  const span = { since: '2020-01-01T00:00:00Z', until: null }
  await core.transaction((db) => core.queues.recover(db, { ...asked, ...span }))
}

/** Work that deletes the jobs of the recipient, of which there is one. */
async function beginDiscard(core: Core, recipient: string): Promise<void> {
  const job = { id: idOf(recipient), data: { event: 'test' }, recipient }
  await core.transaction(async (db) => {
    await core.queues.insert(db, QUEUE, [job])
    await insertWork(db, QUEUE, recipient, 'discard')
  })
}

const isFinished = async (core: Core, recipient: string): Promise<boolean> => {
  const [recovery] = await listRecoveries(core.db, QUEUE, { recipient })
  return recovery?.finishedAt !== null
}

async function discardedRecipients(core: Core): Promise<string[]> {
  const { rows } = await core.db.query(
    `select recipient from svc."__svc.work" where what = 'discard'`,
  )
  return rows.map(({ recipient }) => recipient)
}

t.test('work that fails holds up no other', async (t) => {
  const { core, runner, errors } = await runnerThatFails(t, new Error('of this one alone'))
  for (const recipient of [BROKEN, SOUND]) {
    await beginRecovery(core, recipient)
    await beginDiscard(core, recipient)
  }
  // Between two portions there is a pause.
  await until(async () => {
    await runner.run()
    return (await discardedRecipients(core)).length === 1 && errors.length >= 2
  })
  t.equal(await isFinished(core, SOUND), true)
  t.equal(await isFinished(core, BROKEN), false)
  t.same(await discardedRecipients(core), [BROKEN])
  const { rows } = await core.db.query(
    `select next_at > created_at + interval '1 second' as "isPostponed"
       from svc."__svc.work" where recipient = $1`,
    [BROKEN],
  )
  t.same(rows, [{ isPostponed: true }, { isPostponed: true }])
  for (const what of ['missing', 'discard']) {
    const { message, details } = errors.find((error) => error.details.what === what) ?? {}
    t.match(message, /^a portion of work on jobs failed/)
    t.match(details, { recipient: BROKEN, againInMs: Number })
  }
})

t.test(
  'an outage puts no recovery off: the run ends, and a periodic task tries again',
  async (t) => {
    const outage = Object.assign(new Error('the server stops'), { code: '57P01' })
    const { core, runner, errors } = await runnerThatFails(t, outage)
    await beginRecovery(core, BROKEN)
    await runner.run()
    t.match(errors, [{ message: 'could not carry out work on jobs; a periodic task tries again' }])
    const { rows } = await core.db.query(
      `select next_at <= created_at as "isDue" from svc."__svc.work"`,
    )
    t.same(rows, [{ isDue: true }])
  },
)

t.test('a portion of work whose commit is lost in an outage is carried out again', async (t) => {
  const outage = Object.assign(new Error('the server stops'), { code: '57P01' })
  let lost = 0
  const { core, runner } = await runnerThatFails(t, outage, () => lost++ === 0)
  await beginDiscard(core, SOUND)
  await runner.run()
  t.same(await discardedRecipients(core), [SOUND], 'the outage ends the run')
  await until(async () => {
    await runner.run()
    return (await discardedRecipients(core)).length === 0
  })
  const { rows } = await core.db.query(
    'select count(*)::int as jobs from svc_jobs.job where name = $1',
    [QUEUE],
  )
  t.same(rows, [{ jobs: 0 }])
})
