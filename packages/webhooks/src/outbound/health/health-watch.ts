/**
 * Has the results of attempts counted soon after they are recorded, warns of webhooks whose attempts have all
 * failed for a while and disables them, and resumes disabled ones that work again. A kill of the process
 * loses no result, only what would have followed from it.
 */
import { pause, Timer, type Core, type Db } from '@svc/core/internal'
import { rollUpRecent, type Working } from '../../tables/stats.ts'
import {
  findFailing,
  lockFailing,
  markWarned,
  PORTION,
  type FailingWebhook,
} from '../../tables/webhook-health.ts'
import { QUEUE } from '../delivery-queue.ts'
import { findLastFailures } from '../../tables/delivery-log.ts'
import { publishLifecycle } from '../lifecycle-events.ts'
import { verdictOf, type AutoDisable } from './auto-disable.ts'
import { disable, reactivate } from './disable-and-resume.ts'

/** How long after an attempt results are counted: it is recorded by then, with others of its time. */
const SOON_MS = 1000
/** Another process may be counting. */
const AGAIN_MS = 50
const MOST_TRIES = 20

export class HealthWatch {
  #core: Core
  #autoDisable: AutoDisable | null
  #failed = new Set<string>()
  #working = new Map<string, Working>()
  #timer = new Timer(() => this.flush())
  #running: Promise<void> = Promise.resolve()

  constructor(core: Core, autoDisable: AutoDisable | null) {
    this.#core = core
    this.#autoDisable = autoDisable
  }

  /** An attempt has ended that says something about the receiver of its webhook. */
  attempted(): void {
    this.#soon()
  }

  /** A failed attempt is recorded that says something about the receiver of the webhook: it is judged soon. */
  failed(webhookId: string): void {
    this.#failed.add(webhookId)
    this.#soon()
  }

  /** Counts recent attempts, also into the statistics. Returns `false` where another process is counting. */
  async count(stopping?: AbortSignal): Promise<boolean> {
    for (let hasMore = true; hasMore && !stopping?.aborted;) {
      const rolledUp = await rollUpRecent(this.#core.preparedDb)
      if (rolledUp === null) return false
      for (const webhook of rolledUp.working) this.works(webhook)
      hasMore = rolledUp.hasMore
    }
    return true
  }

  /** A webhook that was disabled has taken a delivery. */
  works(webhook: Working): void {
    this.#working.set(webhook.id, webhook)
    this.#soon()
  }

  /** Does now what is to be done by now. Never rejects. */
  flush(): Promise<void> {
    this.#timer.clear()
    this.#running = this.#running.then(() => this.#run())
    return this.#running
  }

  async close(): Promise<void> {
    await this.flush()
    this.#timer.clear()
  }

  #soon(): void {
    this.#timer.set(SOON_MS)
  }

  async #run(): Promise<void> {
    const failed = [...this.#failed]
    this.#failed.clear()
    try {
      for (let tries = 0; tries < MOST_TRIES && !(await this.count()); tries++)
        await pause(AGAIN_MS)
      await this.#judge(failed)
    } catch (error) {
      const message = 'could not judge failing webhooks; the next failed attempt of each is judged'
      this.#core.log.warn({ err: error, webhookIds: failed.slice(0, 10) }, message)
    }
    const working = [...this.#working.values()]
    this.#working.clear()
    for (const webhook of working) {
      try {
        await reactivate(this.#core, webhook.id, webhook.url)
      } catch (error) {
        this.works(webhook)
        this.#core.log.warn(
          { err: error, webhookId: webhook.id },
          'could not resume a webhook after a successful attempt; it tries again',
        )
      }
    }
  }

  /**
   * Judges webhooks of which an attempt has just failed. Nothing else judges one: that no attempt is made
   * says nothing about its receiver.
   */
  async #judge(ids: string[]): Promise<void> {
    const settings = this.#autoDisable
    if (settings === null) return
    const warns = (webhook: FailingWebhook) => verdictOf(webhook, settings).warns
    const disables = (webhook: FailingWebhook) => verdictOf(webhook, settings).disables
    for (let start = 0; start < ids.length; start += PORTION) {
      const found = await findFailing(this.#core.db, ids.slice(start, start + PORTION))
      const due = found.filter((one) => warns(one) || disables(one)).map(({ id }) => id)
      if (due.length === 0) continue
      await this.#core.transaction(async (db) => {
        const failing = await lockFailing(db, due)
        await this.#warn(db, failing.filter(warns))
        await this.#disable(db, failing.filter(disables))
      })
    }
  }

  async #warn(db: Db, warned: FailingWebhook[]): Promise<void> {
    if (warned.length === 0) return
    const ids = warned.map(({ id }) => id)
    await markWarned(db, ids)
    const lastErrors = await findLastFailures(db, ids)
    const payloads = warned.map(({ id, tenant, url, failingSince, failedAttempts }) => ({
      webhookId: id,
      tenant,
      url,
      failingSince,
      failedAttempts,
      lastError: lastErrors.get(id) ?? null,
    }))
    await publishLifecycle(this.#core, db, 'svc.webhook.failing', payloads)
  }

  async #disable(db: Db, failing: FailingWebhook[]): Promise<void> {
    if (failing.length === 0) return
    const ids = failing.map(({ id }) => id)
    await disable(this.#core, db, ids, 'failing')
    this.#core.afterCommit(db, () => this.#core.queues.recipientsChanged(QUEUE))
  }
}
