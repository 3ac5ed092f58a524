/** A queue of a package's own, whose jobs come to the outcomes that a test asks for. */
import { createHash } from 'node:crypto'
import type { Core, FanOutJob, Job, Outcome, Settled, Worker } from '@svc/core/internal'

type Recovery = NonNullable<Worker['recovery']>

/** Of a worker that keeps no rows. */
export const NO_RECOVERY: Recovery = {
  recordDiscarded: async () => {},
  recoverMissed: async () => ({ done: 0, isFinished: true }),
}

export const RETRY = {
  maxAttempts: 3,
  retryDelaySeconds: 0,
  retryBackoff: false,
  retryDelayMaxSeconds: 60,
}

export interface TestWorker {
  /** Jobs in the order in which they were begun. */
  jobs: Job<FanOutJob>[]
  settled: Settled<FanOutJob>[]
  insert(names: string[], recipient?: string): Promise<void>
}

export const QUEUE = '__svc.test.work'
export const RECIPIENT = '00000000-0000-4000-8000-000000000001'

/** A job's id follows from its name. */
export const idOf = (name: string): string =>
  createHash('md5')
    .update(name)
    .digest('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

export async function testWorker(
  core: Core,
  perform: (name: string, job: Job<FanOutJob>) => Outcome | Promise<Outcome>,
  {
    concurrency = 8,
    settlesTogether = false,
    recordDiscarded,
  }: {
    concurrency?: number
    settlesTogether?: boolean
    recordDiscarded?: Recovery['recordDiscarded']
  } = {},
): Promise<TestWorker> {
  const jobs: Job<FanOutJob>[] = []
  const settled: Settled<FanOutJob>[] = []
  await core.queues.define(QUEUE)
  core.work<FanOutJob, string, unknown>({
    queue: QUEUE,
    concurrency,
    settlesTogether,
    prepare: async () => (job) => job.data.eventId,
    perform: async (job, name) => {
      jobs.push(job)
      return perform(name, job)
    },
    ...(recordDiscarded ? { recovery: { ...NO_RECOVERY, recordDiscarded } } : {}),
    // All in a transaction.
    record: { function: 'none', rowsOf: () => null },
    async follow(db, batch) {
      await db.query('select 1')
      settled.push(...batch)
    },
  })
  return {
    jobs,
    settled,
    async insert(names, recipient) {
      const inserted = names.map((name) => ({
        id: idOf(name),
        data: { event: 'test', eventId: name, deliveryId: idOf(name) },
        ...(recipient ? { recipient } : {}),
      }))
      await core.queues.insert(core.db, QUEUE, inserted)
      core.queues.wake(QUEUE)
    },
  }
}
