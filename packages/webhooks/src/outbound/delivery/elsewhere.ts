/**
 * A delivery that an operator sends to another address than that of its webhook. It tells nothing of
 * the webhook's receiver, and none of its state holds it.
 */
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import type { Post } from '../http/post.ts'
import { contentTypeOf } from '../settings/custom-headers.ts'
import { makeAttempt, type AttemptSettings, type AttemptStep, type Delivery } from './attempt.ts'

/** Signed as any delivery of the webhook, and without its headers, which are secrets of its receiver. */
export function makeAttemptElsewhere(
  url: string,
  post: Post,
  settings: AttemptSettings,
  webhook: WebhookForDelivery,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptStep> {
  const there = { ...webhook, url, headers: contentTypeOf(webhook.headers) }
  // That this address is gone must not deactivate the webhook.
  const rules = { ...settings, deactivateOnGone: false }
  return makeAttempt(post, rules, there, { ...delivery, isElsewhere: true }, signal)
}
