/**
 * A delivery that an operator sends to another address than that of its webhook. It is no evidence
 * about the webhook's receiver, and the state of the webhook does not delay it.
 */
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import type { Post } from '../http/post.ts'
import { makeAttempt, type AttemptSettings, type AttemptStep, type Delivery } from './attempt.ts'

/**
 * Signed, and with the webhook's own headers, as each of its attempts: a caller that may send it
 * may also read them.
 */
export function makeAttemptAtOtherUrl(
  url: string,
  post: Post,
  settings: AttemptSettings,
  webhook: WebhookForDelivery,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptStep> {
  // A 410 from this address must not deactivate the webhook.
  const rules = { ...settings, deactivateOnGone: false }
  return makeAttempt(post, rules, { ...webhook, url }, { ...delivery, isAtOtherUrl: true }, signal)
}
