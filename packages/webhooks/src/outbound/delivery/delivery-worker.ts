/** The worker of the delivery queue: one attempt for each job, and its row in the log. */
import {
  failedAsLost,
  findPayloads,
  tenantOfEvent,
  unsentOutcome,
  type Core,
  type Outcome,
  type Settled,
  type Worker,
} from '@svc/core/internal'
import { insertLogRows } from '../../tables/delivery-log.ts'
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import {
  QUEUE,
  attemptNumberOf,
  isUndecided,
  type DeliveryData,
  type DeliveryJob,
} from '../delivery-queue.ts'
import type { Post } from '../http/post.ts'
import { recoverMissedPortion } from '../recoveries/recover-missed.ts'
import { scheduleAfter } from '../settings/retry-schedule.ts'
import { makeAttempt, type AttemptSettings, type AttemptStep } from './attempt.ts'
import { ByteBudget } from './byte-budget.ts'
import { deliveryTelemetry } from './delivery-telemetry.ts'
import { UndecidedDeliveries } from './undecided-deliveries.ts'
import { KnownWebhooks, prepareDeliveries, type PreparedDelivery } from './prepare-deliveries.ts'
import type { Probes } from './probe.ts'
import {
  attempts,
  hasReached,
  isFailure,
  isGone,
  recordDeliveries,
  skippedRows,
  unsent,
  type AttemptRecord,
} from './record-deliveries.ts'

const READ_AGAIN_MS = 1000
/** Large payloads in memory at a time: each is there as text and as the body that is sent. */
const MAX_LARGE_BYTES = 32 * 1024 * 1024

export function createDeliveryWorker(
  core: Core,
  post: Post,
  settings: AttemptSettings,
  probes: Pick<Probes, 'end'> | null,
): Worker<DeliveryData, PreparedDelivery, AttemptRecord> {
  const { deliveryLogRetentionDays: days } = settings
  const budget = new ByteBudget(MAX_LARGE_BYTES)
  const known = new KnownWebhooks()
  const filters = new UndecidedDeliveries(core)

  async function perform(
    job: DeliveryJob,
    { webhook, payload, publishedAt, traceContext, isUnreadable }: PreparedDelivery,
    signal: AbortSignal,
  ): Promise<Outcome<AttemptRecord>> {
    const attempt = attemptNumberOf(job)
    if (webhook === undefined || payload === undefined) {
      if (isUndecided(job)) return { kind: 'cancelled' }
      return { kind: 'cancelled', detail: unsent(attempt) }
    }
    const { event, eventId, deliveryId, url = webhook.url, isTest } = job.data
    if (url === '') return { kind: 'cancelled', detail: unsent(attempt) }
    const isProbe = job.isProbe === true
    if (mustPark(webhook, job)) return { kind: 'parked' }
    if (isUndecided(job)) {
      const delayMs = filters.turnInMs()
      if (delayMs !== null) return { kind: 'postponed', delayMs }
      // The webhook does not want the event: no row of the log tells of it.
      if (!(await filters.matches(job, payload))) return { kind: 'cancelled' }
    }
    // Another host may be able to read the secret.
    if (isUnreadable === true) return unsentOutcome(job, unsent(attempt, 'secret'))
    // Signed and with the webhook's own headers also there: a caller that may send it may also read them.
    const isAtOtherUrl = job.data.url !== undefined
    const delivery = {
      event,
      payload,
      deliveryId,
      attempt,
      isTest,
      eventId,
      publishedAt: publishedAt ?? job.createdAt,
      tenant: eventId === null ? null : tenantOfEvent(eventId),
      isProbe,
      isAtOtherUrl,
      traceContext: job.traceContext ?? traceContext,
    }
    const rules = isAtOtherUrl ? { ...settings, deactivateOnGone: false } : settings
    const to = isAtOtherUrl ? { ...webhook, url } : webhook
    const step = await makeAttempt(post, rules, to, delivery, signal)
    if (isProbe && hasFailed(step) && !isWithoutRequest(step))
      return { kind: 'parked', detail: step.detail }
    const outcome = step.kind === 'unsent' ? unsentAgain(step, job) : step
    if (outcome.kind !== 'failed' || !hasSchedule(webhook, job)) return outcome
    const made = { attempt: job.attempt, attemptsLeft: publishedAttemptsLeft(job) }
    return { ...outcome, schedule: scheduleAfter(webhook.retry ?? {}, made, Math.random) }
  }

  /** Reads the payload only when the budget has room for it. */
  async function performLarge(
    job: DeliveryJob,
    { largeBytes = 0, ...prepared }: PreparedDelivery,
    signal: AbortSignal,
  ): Promise<Outcome<AttemptRecord>> {
    const { event: name, eventId } = job.data
    const reservation = await budget.reserve(job.data.recipient, largeBytes, signal)
    try {
      const found = await findPayloads(core.db, [{ name, id: eventId ?? '' }]).catch(() => null)
      // Postgres did not answer, which is no failure of the receiver: no attempt is used up.
      if (found === null) return { kind: 'postponed', delayMs: READ_AGAIN_MS }
      return await perform(job, { ...prepared, payload: found[0]?.payload }, signal)
    } finally {
      reservation.release()
    }
  }

  return {
    queue: QUEUE,
    concurrency: core.settings.worker.concurrency,
    settlesTogether: true,
    telemetry: deliveryTelemetry,
    prepare: (db, jobs) => prepareDeliveries(core, known, db, jobs),
    read: '__svc.webhooks.read_delivery',
    perform: (job, prepared, signal) =>
      prepared.largeBytes === undefined
        ? perform(job, prepared, signal)
        : performLarge(job, prepared, signal),
    lost: lostAttempt,
    record: attempts,
    async follow(db, settled) {
      await recordDeliveries(core, db, days, settled)
      // Only a host that probes has a probe to end.
      await probes?.end(db, settled.flatMap(failedProbe))
    },
    settled(settled) {
      if (settled.some(isGone) || settled.some(hasReached)) core.queues.recipientsChanged(QUEUE)
      for (const one of settled) if (isFailure(one)) settings.health.failed(one.job.data.recipient)
    },
    recovery: {
      recordDiscarded: (db, jobs) => insertLogRows(db, skippedRows(jobs)),
      recoverMissed: (db, recovery, most) => recoverMissedPortion(core, days, db, recovery, most),
    },
  }
}

/** Whether the delivery may have another number of attempts left than the row of its job says. */
const hasSchedule = ({ retry }: WebhookForDelivery, { data }: DeliveryJob): boolean =>
  retry !== null || data.publishedRetryLimit !== undefined

/** By the settings of the publisher: a `retry` that the webhook had at a former attempt may be gone. */
const publishedAttemptsLeft = ({ data, attemptsLeft, retryCount }: DeliveryJob): number =>
  data.publishedRetryLimit === undefined
    ? attemptsLeft
    : Math.max(0, data.publishedRetryLimit - retryCount)

/** A job whose filter is not decided yet may be no delivery: no row of the log tells of it. */
const lostAttempt = (job: DeliveryJob): Outcome<AttemptRecord> =>
  isUndecided(job)
    ? { kind: 'postponed', delayMs: 0 }
    : failedAsLost(job, unsent(attemptNumberOf(job), 'lost'))

function mustPark(webhook: WebhookForDelivery, { data, permit, isProbe }: DeliveryJob): boolean {
  if (webhook.paused) return true
  if (isProbe === true || data.url !== undefined) return false
  // Fetched while the webhook was being restricted: it waits for its turn with the others.
  return !webhook.active || (webhook.isRestricted && !permit)
}

/** The webhook that a job has probed without success. */
const failedProbe = ({ job, outcome }: Settled<DeliveryData, AttemptRecord>): string[] =>
  job.isProbe === true && outcome.kind !== 'completed' ? [job.data.recipient] : []

/** A probe that fails uses up no attempt: the delivery keeps waiting. */
const hasFailed = (
  step: AttemptStep,
): step is Extract<AttemptStep, { kind: 'failed' | 'rejected' | 'unsent' }> =>
  step.kind === 'failed' || step.kind === 'rejected' || step.kind === 'unsent'

/** Another host may have what this one lacks: that is no attempt, and no row of the log tells of it. */
const isWithoutRequest = (step: AttemptStep): boolean =>
  step.kind === 'unsent' && step.isLacking === true

const unsentAgain = (
  step: Extract<AttemptStep, { kind: 'unsent' }>,
  job: DeliveryJob,
): Outcome<AttemptRecord> =>
  unsentOutcome(job, step.detail, isWithoutRequest(step) ? undefined : step.detail)
