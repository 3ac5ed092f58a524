/** The periodic check: warns of webhooks whose attempts have all failed for a while, disables them, and has them probed. */
import type { Core, Db } from '@svc/core/internal'
import { disable } from './disable.ts'
import { lockFailing, markWarned, type FailingWebhook } from '../../tables/webhook-health.ts'
import { QUEUE } from '../constants.ts'
import { lastErrorsOf, publishLifecycle } from '../lifecycle-events.ts'
import type { AutoDisable } from './auto-disable-options.ts'
import { probeDue } from './probe.ts'

/** How often the table is checked: often enough for the shortest of the times. */
export function checkEverySeconds(settings: AutoDisable): number {
  const { failingForSeconds, warnAfterSeconds, probeEverySeconds } = settings
  const shortest = Math.min(failingForSeconds, warnAfterSeconds, probeEverySeconds ?? Infinity)
  return Math.min(10, Math.max(0.5, shortest / 4))
}

export class FailingWebhooks {
  #core: Core
  #settings: AutoDisable
  #deliveryTimeoutMs: number

  constructor(core: Core, settings: AutoDisable, deliveryTimeoutMs: number) {
    this.#core = core
    this.#settings = settings
    this.#deliveryTimeoutMs = deliveryTimeoutMs
  }

  async check(stopping?: AbortSignal): Promise<void> {
    // All of them first: one that is disabled is no longer warned of.
    while ((await this.#core.transaction((db) => this.#warn(db))) && !stopping?.aborted);
    let after: string | null = null
    do after = await this.#disableSome(after)
    while (after !== null && !stopping?.aborted)
    if (stopping?.aborted) return
    const { probeEverySeconds } = this.#settings
    if (probeEverySeconds === null) return
    await probeDue(this.#core, probeEverySeconds, this.#deliveryTimeoutMs)
  }

  /** Returns whether there may be more. */
  async #warn(db: Db): Promise<boolean> {
    const warned = await markWarned(db, this.#settings.warnAfterSeconds)
    if (warned.length === 0) return false
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
    return true
  }

  /** Returns the last webhook that was checked; `null` at the end. */
  #disableSome(after: string | null): Promise<string | null> {
    const { failingForSeconds, minAttempts } = this.#settings
    return this.#core.transaction(async (db) => {
      const failing = await lockFailing(db, failingForSeconds, minAttempts, after)
      const ids = await this.#proven(db, failing)
      await disable(this.#core, db, ids, 'failing')
      if (ids.length > 0) {
        this.#core.afterCommit(db, () => this.#core.queues.groupsChanged(QUEUE))
      }
      return failing.at(-1)?.id ?? null
    })
  }

  /**
   * The webhooks whose failed attempts span the time, or of which no delivery is left to try. A
   * host that was down meanwhile has made no attempts: that time does not count against a webhook.
   */
  async #proven(db: Db, failing: FailingWebhook[]): Promise<string[]> {
    const { failingForSeconds } = this.#settings
    const unproven = failing
      .filter(({ failedForSeconds }) => failedForSeconds < failingForSeconds)
      .map(({ id }) => id)
    const waiting = await this.#core.queues.withJobs(db, QUEUE, unproven)
    return failing.map(({ id }) => id).filter((id) => !waiting.has(id))
  }
}
