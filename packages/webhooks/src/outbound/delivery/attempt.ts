import type { WebhookForDelivery } from '../../tables/webhooks.ts'
import type { Post } from '../http/post.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { errorOf, nextStep, type NextStep, type StepRules } from './next-step.ts'
import { deliveryBody, signedHeaders } from './sign.ts'

/** What an attempt sends. */
export interface Delivery {
  event: string
  /** JSON text. */
  payload: string
  deliveryId: string
  /** 1, 2, … over all attempts of the delivery. */
  attempt: number
}

export interface AttemptSettings extends StepRules {
  standardWebhooks: boolean
}

/** Signs a delivery and sends it to its webhook. */
export async function makeAttempt(
  post: Post,
  settings: AttemptSettings,
  webhook: WebhookForDelivery,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<NextStep<AttemptRecord>> {
  const attemptedAt = new Date()
  const startedMs = performance.now()
  const { event, deliveryId, attempt } = delivery
  const { secret, previousSecret } = webhook
  const body = deliveryBody(event, delivery.payload, deliveryId)
  const headers = signedHeaders(
    { event, deliveryId, attempt, body },
    { secret, previousSecret, standardWebhooks: settings.standardWebhooks },
    Math.floor(attemptedAt.getTime() / 1000),
  )
  const result = await post.send(new URL(webhook.url), headers, body, signal)
  const record: AttemptRecord = {
    attempt,
    statusCode: result.statusCode,
    error: errorOf(result),
    durationMs: Math.round(performance.now() - startedMs),
    responseBody: result.responseBody,
    attemptedAt: attemptedAt.toISOString(),
  }
  return nextStep(result, record, settings, new Date())
}
