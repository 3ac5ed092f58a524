/**
 * Publishes whose id, or whose deduplication key, a transaction holds that has not ended. Whether such a
 * one is a repeat is known when that transaction ends. They wait here, a few at a time and each in short
 * tries: no other publish waits for them.
 */
import { Unavailable } from '../errors.ts'
import { isLockTimeout } from '../postgres/contention.ts'

/** How long the statement of others' publishes waits for such a transaction, before it goes on without them. */
export const OTHERS_WAIT_MS = 100
const AT_A_TIME = 2
const TRY_MS = 250
const LONGEST_MS = 20_000
/** How many wait at most: each has a payload. */
const MOST = 10_000

export interface Held {
  key: string
  /** As a message names it. */
  what: string
}

interface Waiting {
  held: Held
  sinceMs: number
  /** @throws 55P03 where it is still held after `lockMs` */
  publish: (lockMs: number) => Promise<unknown>
  resolve: (result: never) => void
  reject: (error: unknown) => void
}

export class HeldLane {
  #waiting: Waiting[] = []
  #trying = new Set<Promise<void>>()
  #keys = new Map<string, number>()
  #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Whether one with this key is here: another one would wait as well. */
  has(key: string): boolean {
    return this.#keys.has(key)
  }

  wait<Result>(held: Held, publish: (lockMs: number) => Promise<Result>): Promise<Result> {
    if (this.#waiting.length >= MOST) return Promise.reject(stillHeld(held))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#keys.set(held.key, (this.#keys.get(held.key) ?? 0) + 1)
    this.#waiting.push({ held, sinceMs: this.#nowMs(), publish, resolve, reject })
    this.#fill()
    return promise
  }

  async idle(): Promise<void> {
    while (this.#trying.size > 0) await Promise.all(this.#trying)
  }

  #fill(): void {
    while (this.#trying.size < AT_A_TIME) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      const trying = this.#try(next).finally(() => {
        this.#trying.delete(trying)
        this.#fill()
      })
      this.#trying.add(trying)
    }
  }

  async #try(one: Waiting): Promise<void> {
    try {
      one.resolve((await one.publish(TRY_MS)) as never)
    } catch (error) {
      const isHeld = isLockTimeout(error)
      if (isHeld && this.#nowMs() - one.sinceMs < LONGEST_MS) {
        // Behind those that have waited meanwhile: one of them may be free.
        this.#waiting.push(one)
        return
      }
      one.reject(isHeld ? stillHeld(one.held, error) : error)
    }
    const { key } = one.held
    const others = (this.#keys.get(key) ?? 1) - 1
    if (others === 0) this.#keys.delete(key)
    else this.#keys.set(key, others)
  }
}

const stillHeld = ({ what }: Held, cause?: unknown): Error =>
  Object.assign(new Unavailable({ cause }), {
    message: `another transaction, which has not ended, holds ${what}: whether this is a repeat shows when it ends: try again`,
  })
