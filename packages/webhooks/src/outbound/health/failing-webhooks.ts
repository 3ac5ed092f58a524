/** Warns of webhooks whose attempts have all failed for a while, and disables them. */
import type { Core, Db } from '@svc/core/internal'
import { lockFailing, markWarned, PORTION } from '../../tables/webhook-health.ts'
import { QUEUE } from '../delivery-queue.ts'
import { lastErrorsOf, publishLifecycle } from '../lifecycle-events.ts'
import type { AutoDisable } from './auto-disable-options.ts'
import { disable } from './disable.ts'

export class FailingWebhooks {
  #core: Core
  #settings: AutoDisable

  constructor(core: Core, settings: AutoDisable) {
    this.#core = core
    this.#settings = settings
  }

  /**
   * Judges webhooks of which an attempt has just failed. Nothing else judges one: that no attempt is made
   * says nothing about its receiver.
   */
  async judge(ids: string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += PORTION) {
      const portion = ids.slice(start, start + PORTION)
      await this.#core.transaction(async (db) => {
        await this.#warn(db, portion)
        await this.#disable(db, portion)
      })
    }
  }

  async #warn(db: Db, ids: string[]): Promise<void> {
    const warned = await markWarned(db, ids, this.#settings.warnAfterSeconds)
    if (warned.length === 0) return
    await publishLifecycle(this.#core, db, 'svc.webhook.failing', async () => {
      const lastErrors = await lastErrorsOf(
        db,
        warned.map(({ id }) => id),
      )
      return warned.map(({ id, tenant, url, failingSince, failedAttempts }) => ({
        webhookId: id,
        tenant,
        url,
        failingSince: failingSince.toISOString(),
        failedAttempts,
        lastError: lastErrors.get(id) ?? null,
      }))
    })
  }

  async #disable(db: Db, ids: string[]): Promise<void> {
    const { failingForSeconds, minAttempts } = this.#settings
    const failing = await lockFailing(db, ids, failingForSeconds, minAttempts)
    if (failing.length === 0) return
    await disable(this.#core, db, failing, 'failing')
    this.#core.afterCommit(db, () => this.#core.queues.recipientsChanged(QUEUE))
  }
}
