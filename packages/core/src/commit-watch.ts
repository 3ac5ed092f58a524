/**
 * Nobody tells this process when a caller's transaction commits: it looks, from 5 ms on, doubling,
 * for 2 s. What commits later is found by the workers' own polls.
 */
import type { Db } from './database.ts'
import { findCommitted } from './event-log.ts'
import { keyOf } from './publish.ts'

interface Expected {
  name: string
  id: string
  queues: string[]
  giveUpAt: number
}

const FIRST_LOOK_MS = 5
const GIVE_UP_MS = 2000
/** Beyond this many the polls of the workers are quick enough, and memory stays bounded. */
const MOST = 10_000

export class CommitWatch {
  #db: Db
  #committed: (queue: string) => void
  #expected = new Map<string, Expected>()
  #pauseMs = FIRST_LOOK_MS
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(db: Db, committed: (queue: string) => void) {
    this.#db = db
    this.#committed = committed
  }

  expect(event: { name: string; id: string }, queues: string[]): void {
    if (queues.length === 0 || this.#closed || this.#expected.size >= MOST) return
    this.#expected.set(keyOf(event), { ...event, queues, giveUpAt: Date.now() + GIVE_UP_MS })
    this.#pauseMs = FIRST_LOOK_MS
    this.#lookLater()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#expected.clear()
  }

  #lookLater(): void {
    if (this.#timer) return
    this.#timer = setTimeout(() => void this.#look(), this.#pauseMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const committed = await findCommitted(this.#db, [...this.#expected.values()]).catch(() => [])
    this.#timer = undefined
    const queues = new Set<string>()
    for (const event of committed) {
      for (const queue of this.#expected.get(keyOf(event))?.queues ?? []) queues.add(queue)
      this.#expected.delete(keyOf(event))
    }
    for (const queue of queues) this.#committed(queue)
    for (const [key, { giveUpAt }] of this.#expected) {
      if (Date.now() > giveUpAt) this.#expected.delete(key)
    }
    this.#pauseMs *= 2
    if (this.#expected.size > 0 && !this.#closed) this.#lookLater()
  }
}
