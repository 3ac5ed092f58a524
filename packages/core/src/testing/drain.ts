import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { NotDrained } from '../errors.ts'
import type { Db } from '../postgres/transaction.ts'
import { findDueJobs, hasWork, describeJobs } from '../jobs/pg-boss/due-jobs.ts'
import { hostUnderTest } from './host-under-test.ts'
import { timeoutOf } from './timeout.ts'

/** Options of `drain`. */
export interface DrainOptions {
  /** @default 10000, or SVC_TESTING_TIMEOUT_MS of the environment */
  timeoutMs?: number | undefined
}

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 50

/**
 * Resolves when every event, delivery and subscription that is due now is settled: handled,
 * delivered, dead, or waiting for a retry that is due later. Deliveries of webhooks that are not
 * active are not due.
 *
 * @throws NotDrained naming what still waits when the time is up, InvalidOption
 * @example
 * await app.svc.events.publish('order.created', { id: 7 })
 * await drain(app)
 */
export async function drain(app: FastifyInstance, options: DrainOptions = {}): Promise<void> {
  const timeoutMs = timeoutOf('drain', options)
  const host = await hostUnderTest(app, 'drain')
  const until = performance.now() + timeoutMs
  await host.published()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
    if (!(await isBusy(host.db))) return
    if (performance.now() > until) {
      const jobs = await findDueJobs(host.db)
      // What was left may have been settled between the two queries.
      if (jobs.length === 0 && !(await hasWork(host.db))) return
      throw new NotDrained(timeoutMs, describeJobs(jobs, host.hasWorkers))
    }
    host.wakeAll()
    await pause(pauseMs)
  }
}

/** In this order: a move that has ended before the first look has made its jobs before the second. */
const isBusy = async (db: Db): Promise<boolean> =>
  (await hasWork(db)) || (await findDueJobs(db)).length > 0
