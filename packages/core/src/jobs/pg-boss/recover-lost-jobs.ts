/** Takes back the jobs of processes that died: pg-boss looks for leases without a heartbeat. */
import { HEARTBEAT_SECONDS } from './jobs-table.ts'
import { supervise, type PgBoss } from './boss.ts'

export const RECOVERY_SECONDS = 5

export class LostJobs {
  #boss: PgBoss
  /** When a query of this process failed last, by the monotonic clock. */
  #failedAt = -Infinity

  constructor(boss: PgBoss) {
    this.#boss = boss
  }

  databaseFailed(): void {
    this.#failedAt = performance.now()
  }

  /**
   * Not soon after an outage: processes that live could not renew their leases either, and get the
   * time of a lease to do it.
   */
  async run(): Promise<void> {
    if (performance.now() - this.#failedAt < HEARTBEAT_SECONDS * 1000) return
    try {
      await supervise(this.#boss)
    } catch (error) {
      this.databaseFailed()
      throw error
    }
  }
}
