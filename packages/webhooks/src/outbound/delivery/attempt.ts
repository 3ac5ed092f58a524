import type { Target } from '../../tables/webhooks.ts'
import { nextStep, type Failure, type NextStep, type Rules } from './next-step.ts'
import type { Post } from '../http/post.ts'
import { deliveryBody, signedHeaders } from './sign.ts'

/** What is to be delivered. */
export interface Delivery {
  event: string
  /** JSON text. */
  payload: string
  deliveryId: string
  /** 1, 2, … over all attempts of the delivery. */
  attempt: number
}

/** What an attempt left, for the log and for a dead letter. */
export interface Attempt {
  attempt: number
  statusCode: number | null
  /** `lost`: its process died. */
  error: Failure | 'lost' | null
  durationMs: number | null
  responseBody: string | null
  attemptedAt: string
}

export interface AttemptSettings extends Rules {
  standardWebhooks: boolean
}

/** Signs a delivery, sends it, and says what follows. */
export async function attempt(
  post: Post,
  settings: AttemptSettings,
  target: Target,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<{ step: NextStep; attempt: Attempt }> {
  const attemptedAt = new Date()
  const startedMs = performance.now()
  const body = deliveryBody(delivery.event, delivery.payload, delivery.deliveryId)
  const { secret, previousSecret } = target
  const { event, deliveryId, attempt } = delivery
  const headers = signedHeaders(
    { event, deliveryId, attempt, body },
    { secret, previousSecret, standardWebhooks: settings.standardWebhooks },
    Math.floor(attemptedAt.getTime() / 1000),
  )
  const answer = await post.send(new URL(target.url), headers, body, signal)
  const step = nextStep(answer, settings, new Date())
  return {
    step,
    attempt: {
      attempt,
      statusCode: answer.statusCode,
      error: step.kind === 'delivered' ? null : step.error,
      durationMs: Math.round(performance.now() - startedMs),
      responseBody: answer.responseBody,
      attemptedAt: attemptedAt.toISOString(),
    },
  }
}

/** The attempt of a process that died before it could tell. */
export const lostAttempt = (attempt: number, noticedAt: Date): Attempt => ({
  ...unsent(attempt, noticedAt),
  error: 'lost',
})

/** The attempt that nobody wants any more. */
export const skippedAttempt = (attempt: number): Attempt => unsent(attempt, new Date())

const unsent = (attempt: number, at: Date): Attempt => ({
  attempt,
  statusCode: null,
  error: null,
  durationMs: null,
  responseBody: null,
  attemptedAt: at.toISOString(),
})
