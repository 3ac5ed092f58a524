/** `events.pause` and `events.resume`: stops the handler of a subscription in all processes, and lets it go on. */
import { InvalidOption, InvalidSubscription } from './errors.ts'
import { BY_PROCESS, type AuditOrigin } from './audit/audit-origin.ts'
import { insertAudit } from './audit/audit-table.ts'
import { isPlainObject, isStorableText, kindOf } from './options/check-options.ts'
import type { Db } from './postgres/transaction.ts'
import type { Pauses } from './jobs/pauses.ts'
import { deletePause, insertPause } from './jobs/pauses-table.ts'
import type { PauseOptions } from './events/event-api.ts'
import type { Subscriptions } from './events/subscriptions.ts'
import { queueOfSubscription } from './events/subscription-worker.ts'
import { checkedSubscriptionName } from './events/validate-event.ts'

export interface SubscriptionPauses {
  /** @throws InvalidSubscription */
  pause: (subscription: string, options?: PauseOptions, by?: Changing) => Promise<void>
  /** @throws InvalidSubscription */
  resume: (subscription: string, by?: Changing) => Promise<void>
}

/** Who changes it, and in which transaction. */
interface Changing {
  origin?: AuditOrigin | undefined
  db?: Db | undefined
}

/** The longest reason of a pause. */
const LONGEST_REASON = 500

interface Parts {
  subscriptions: Pick<Subscriptions, 'deadLetters'>
  pauses: Pick<Pauses, 'changed'>
  within(db: Db | undefined, run: (db: Db) => Promise<void>): Promise<void>
  afterCommit(db: Db, task: () => void): unknown
}

export function createSubscriptionPauses(core: Parts): SubscriptionPauses {
  async function change(
    subscription: string,
    action: 'pause' | 'resume',
    { origin = BY_PROCESS, db: given }: Changing,
    reason: string | null,
  ): Promise<void> {
    checkedSubscriptionName(subscription)
    if (!(await core.subscriptions.deadLetters.isSubscription(subscription))) {
      throw new InvalidSubscription(
        `there is no subscription "${subscription}": give the name of one that a host of this database has subscribed`,
      )
    }
    const of = { queue: queueOfSubscription(subscription), tenant: null }
    await core.within(given, async (db) => {
      core.afterCommit(db, () => core.pauses.changed())
      const isChanged =
        action === 'pause' ? await insertPause(db, { ...of, reason }) : await deletePause(db, of)
      if (!isChanged) return
      const target = { kind: 'subscription', id: subscription } as const
      const paused = { from: action === 'resume', to: action === 'pause' }
      const changes = { paused, ...(reason !== null && { reason: { from: null, to: reason } }) }
      await insertAudit(db, origin, [
        { tenant: null, action: `subscription.${action}`, target, changes },
      ])
    })
  }

  return {
    pause: async (subscription, options, by = {}) =>
      change(subscription, 'pause', by, checkedReason(options)),
    resume: (subscription, by = {}) => change(subscription, 'resume', by, null),
  }
}

/** @throws InvalidOption */
function checkedReason(options: PauseOptions = {}): string | null {
  const unknown = isPlainObject(options)
    ? Object.keys(options).find((option) => option !== 'reason')
    : kindOf(options)
  if (unknown !== undefined) {
    throw new InvalidOption(`events.pause: there is no option "${unknown}"; there is: reason`)
  }
  const { reason } = options
  if (reason === undefined || reason === null) return null
  if (isStorableText(reason, LONGEST_REASON)) return reason
  throw new InvalidOption(
    `events.pause: the option "reason" must be a text of 1 to ${LONGEST_REASON} characters, got ${kindOf(reason)}`,
  )
}
