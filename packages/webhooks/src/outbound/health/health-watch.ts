/**
 * Has the results of attempts counted soon after they are recorded, judges the webhooks whose attempts have
 * failed, and resumes disabled ones that work again. A kill of the process loses no result, only what
 * would have followed from it.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Working } from '../../tables/stats.ts'

interface Parts {
  /** Counts what is recorded. Returns whether it did: another process may be counting. */
  count(): Promise<boolean>
  /** An attempt of each of these webhooks has failed. */
  failed(webhookIds: string[]): Promise<void>
  /** Makes the webhook active, if it is disabled and has this address. */
  resume(webhook: Working): Promise<void>
  log: { warn(details: object, message: string): void }
}

/** How long after an attempt results are counted: it is recorded by then, with others of its time. */
const SOON_MS = 1000
const AGAIN_MS = 50
const MOST_TRIES = 20

export class HealthWatch {
  #parts: Parts
  #failed = new Set<string>()
  #working = new Map<string, Working>()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** An attempt has ended that says something about the receiver of its webhook. */
  attempted(webhookId: string, hasSucceeded: boolean): void {
    if (!hasSucceeded) this.#failed.add(webhookId)
    this.#soon()
  }

  /** A webhook that was disabled has taken a delivery. */
  works(webhook: Working): void {
    this.#working.set(webhook.id, webhook)
    this.#soon()
  }

  /** Does now what is to be done by now. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#running.then(() => this.#run())
    return this.#running
  }

  async close(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => void this.flush(), SOON_MS).unref()
  }

  async #run(): Promise<void> {
    const failed = [...this.#failed]
    this.#failed.clear()
    try {
      for (let tries = 0; tries < MOST_TRIES && !(await this.#parts.count()); tries++) {
        await wait(AGAIN_MS)
      }
      if (failed.length > 0) await this.#parts.failed(failed)
    } catch (error) {
      const message = 'could not judge failing webhooks; the next failed attempt of each is judged'
      this.#parts.log.warn({ err: error, webhookIds: failed.slice(0, 10) }, message)
    }
    const working = [...this.#working.values()]
    this.#working.clear()
    for (const webhook of working) await this.#resume(webhook)
  }

  async #resume(webhook: Working): Promise<void> {
    try {
      await this.#parts.resume(webhook)
    } catch (error) {
      this.works(webhook)
      this.#parts.log.warn(
        { err: error, webhookId: webhook.id },
        'could not resume a webhook after a successful attempt; it tries again',
      )
    }
  }
}
