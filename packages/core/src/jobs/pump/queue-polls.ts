/**
 * The polls of all queues of this process: those of the same moment share a statement, so that queues at
 * rest together cost what one does.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { Lane } from '../job.ts'
import { findDueLanes } from '../pg-boss/claim-jobs.ts'
import { pause } from '../../time.ts'

/** How long a poll waits for others. Their times are the same, and their timers not quite. */
const TOGETHER_MS = 20

export class QueuePolls {
  #db: Db
  #asked: { queue: string; lane: Lane }[] = []
  #answer: Promise<Set<string>> | undefined

  constructor(db: Db) {
    this.#db = db
  }

  async isDue(queue: string, lane: Lane): Promise<boolean> {
    this.#asked.push({ queue, lane })
    this.#answer ??= this.#ask()
    return (await this.#answer).has(keyOf(queue, lane))
  }

  async #ask(): Promise<Set<string>> {
    await pause(TOGETHER_MS)
    const asked = this.#asked
    this.#asked = []
    this.#answer = undefined
    const due = await findDueLanes(this.#db, asked)
    return new Set(due.map(({ queue, lane }) => keyOf(queue, lane)))
  }
}

const keyOf = (queue: string, lane: Lane): string => `${lane} ${queue}`
