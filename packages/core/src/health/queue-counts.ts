/** The counts of the queues, read for `svc.health` and for the gauges of metrics alike. */
import type { QueueCount } from '../jobs/pg-boss/queue-counts-table.ts'
import { HEALTH_TIMEOUT_MS, SharedCall } from './shared-call.ts'

/**
 * Gauges show a reading that is not older than this, so that several readers of metrics cause one
 * query.
 */
export const SHARED_FOR_MS = 5000

export class QueueCounts {
  #shared: SharedCall<QueueCount[]>
  #last: { counts: QueueCount[]; at: number } | undefined

  constructor(count: () => Promise<QueueCount[]>) {
    this.#shared = new SharedCall(async () => {
      const counts = await count()
      this.#last = { counts, at: performance.now() }
      return counts
    }, HEALTH_TIMEOUT_MS)
  }

  /** Queries Postgres. Concurrent callers share one query. */
  read(): Promise<QueueCount[]> {
    return this.#shared.answer()
  }

  /** The last reading, where it is not too old. */
  async recent(): Promise<QueueCount[]> {
    const last = this.#last
    return last && performance.now() - last.at < SHARED_FOR_MS ? last.counts : this.read()
  }
}
