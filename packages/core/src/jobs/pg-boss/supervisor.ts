/** Brings the jobs of processes that died back, through pg-boss, which looks for their heartbeats. */
import { HEARTBEAT_SECONDS } from './jobs-table.ts'
import { supervise, type PgBoss } from './boss.ts'

/** How often it is looked for them. */
export const SUPERVISE_SECONDS = 5

export class Supervisor {
  #boss: PgBoss
  /** When this process last could not ask Postgres, by the monotonic clock. */
  #failedAt = -Infinity

  constructor(boss: PgBoss) {
    this.#boss = boss
  }

  /** Postgres could not be asked. */
  failed(): void {
    this.#failedAt = performance.now()
  }

  /**
   * Takes claims back that were not heard of for a while. After an outage that says nothing: the
   * living could not make themselves heard either, and get that time once more.
   */
  async run(): Promise<void> {
    if (performance.now() - this.#failedAt < HEARTBEAT_SECONDS * 1000) return
    try {
      await supervise(this.#boss)
    } catch (error) {
      this.failed()
      throw error
    }
  }
}
