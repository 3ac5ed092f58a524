/**
 * Writes how the attempts of webhooks went, in the background and many webhooks in one statement:
 * settling a delivery costs nothing more. A kill of the process loses what it has not written yet.
 */
import type { Db } from '@svc/core'
import {
  findAddresses,
  writeHealth,
  type SeenAttempts,
  type WrittenHealth,
} from '../../tables/webhook-health.ts'
import { CHANGE_MS, keyOf, SeenAttemptsLog, type AttemptResult } from './seen-attempts.ts'

interface Parts {
  db: Db
  /** `null` where this process makes no probes. */
  probeEverySeconds: number | null
  /** An attempt of each of these webhooks has just failed, after others. */
  failed(webhookIds: string[]): Promise<void>
  /** A webhook that we had disabled has taken a delivery at this address. */
  recovered(webhookId: string, url: string): Promise<void>
  log: { warn(details: object, message: string): void }
}

const AGAIN_MS = 1000

export class HealthRecorder {
  #parts: Parts
  #seen = new SeenAttemptsLog()
  #timer: NodeJS.Timeout | undefined
  #timerAt = Infinity
  #writing: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  add(result: AttemptResult): void {
    this.#seen.add(result, performance.now())
    this.#schedule()
  }

  /** Writes what there is. `waits`: also to rows that other transactions have locked. */
  async flush(waits = false): Promise<void> {
    await this.#writing
    await this.#write(Infinity, waits)
    this.#schedule()
  }

  async close(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    const dueAt = this.#seen.dueAt()
    if (dueAt >= this.#timerAt) return
    clearTimeout(this.#timer)
    this.#timerAt = dueAt
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Infinity
        this.#writing = this.#writing
          .then(() => this.#write(performance.now() + CHANGE_MS))
          .then(() => this.#schedule())
      },
      Math.max(0, dueAt - performance.now()),
    )
    this.#timer.unref()
  }

  /** Never rejects. */
  async #write(until: number, waits = false): Promise<void> {
    const { db, probeEverySeconds, log } = this.#parts
    const now = performance.now()
    const taken = this.#seen.take(until, now)
    if (taken.length === 0) return
    try {
      const written = await writeHealth(db, taken, probeEverySeconds, waits)
      for (const { id, url, isFailing } of written) {
        this.#seen.written({ webhookId: id, url }, isFailing, now)
      }
      await this.#keepLocked(taken, written, now)
      await this.#judge(taken, written)
      await this.#recover(taken, written, now)
    } catch (error) {
      log.warn({ err: error }, 'could not record the health of webhooks; it tries again')
      this.#seen.putBack(taken, now, performance.now() + AGAIN_MS)
    }
  }

  /**
   * Webhooks that were not written are locked by another transaction, or deleted, or have another address
   * by now. Attempts at the old one do not count any more.
   */
  async #keepLocked(taken: SeenAttempts[], written: WrittenHealth[], now: number): Promise<void> {
    const known = keysOf(written)
    const left = taken.filter((one) => !known.has(keyOf(one)))
    const ids = left.map(({ webhookId }) => webhookId)
    const existing = keysOf(ids.length === 0 ? [] : await findAddresses(this.#parts.db, ids))
    const locked = left.filter((one) => existing.has(keyOf(one)))
    this.#seen.putBack(locked, now, performance.now() + AGAIN_MS)
    this.#seen.prune(
      left.filter((one) => !existing.has(keyOf(one))),
      now,
    )
  }

  async #judge(taken: SeenAttempts[], written: WrittenHealth[]): Promise<void> {
    const failing = keysOf(written.filter(({ isFailing, isDisabled }) => isFailing && !isDisabled))
    const failed = taken.filter((one) => one.failures > 0 && failing.has(keyOf(one)))
    if (failed.length === 0) return
    const ids = failed.map(({ webhookId }) => webhookId)
    await this.#parts.failed(ids).catch((error: Error) => {
      const message = 'could not judge failing webhooks; the next failed attempt of each is judged'
      this.#parts.log.warn({ err: error, webhookIds: ids.slice(0, 10) }, message)
    })
  }

  async #recover(taken: SeenAttempts[], written: WrittenHealth[], takenAt: number): Promise<void> {
    const disabled = keysOf(written.filter(({ isDisabled }) => isDisabled))
    if (disabled.size === 0) return
    const working = taken.filter(
      (one) => one.successAgoMs !== null && one.failures === 0 && disabled.has(keyOf(one)),
    )
    for (const one of working) {
      await this.#parts.recovered(one.webhookId, one.url).catch((error: Error) => {
        this.#seen.putBack([one], takenAt, performance.now() + AGAIN_MS)
        this.#parts.log.warn(
          { err: error, webhookId: one.webhookId },
          'could not resume a webhook after a successful attempt; it tries again',
        )
      })
    }
  }
}

const keysOf = (rows: { id: string; url: string }[]): Set<string> =>
  new Set(rows.map(({ id, url }) => keyOf({ webhookId: id, url })))
