/** The worker of the delivery queue: one attempt for each job, and its row in the log. */
import {
  findPayloads,
  retainEvents,
  tenantOfEvent,
  type CompletedJob,
  type Core,
  type Db,
  type InsertCompleted,
  type Outcome,
  type Settled,
  type Worker,
} from '@svc/core/internal'
import { disable } from '../../operations/disable.ts'
import { insertLogRows, insertOfCompleted, type LogRow } from '../../tables/delivery-log.ts'
import { open } from '../../tables/sealed-columns.ts'
import { findWebhooksForDelivery, type WebhookForDelivery } from '../../tables/webhooks.ts'
import { QUEUE } from '../constants.ts'
import type { Post } from '../http/post.ts'
import { recoverMissingPortion } from '../recover-missing.ts'
import { skippedAttempt, type AttemptRecord } from './attempt-record.ts'
import { makeAttempt, type AttemptSettings, type AttemptStep } from './attempt.ts'
import { ByteBudget } from './byte-budget.ts'
import { crashedAttemptsBefore } from './crashed-attempts.ts'
import { scheduleAfter } from '../settings/retry-schedule.ts'
import { attemptNumberOf, eventKey, type DeliveryData, type DeliveryJob } from './delivery-job.ts'
import { deliveryTelemetry } from './delivery-telemetry.ts'
import { makeAttemptElsewhere } from './elsewhere.ts'
import { publishDead } from '../lifecycle-events.ts'
import { attemptRow, deadDeliveriesOf, rowsOf, skippedRow } from './log-entry.ts'

export interface Prepared {
  /** Undefined where the webhook is deleted. */
  webhook: WebhookForDelivery | undefined
  /** Set where this host cannot decrypt its secrets. */
  isUnreadable?: boolean
  /** JSON text; undefined where the event is deleted. */
  payload: string | undefined
  /** The trace context of the publish; `null` where none was traced. */
  traceContext: string | null
  /** Set where the payload is large: it is read when its attempt begins. */
  largeBytes?: number
}

/** Smaller payloads are read with their batch of jobs. */
const LARGE_BYTES = 64 * 1024
const READ_AGAIN_MS = 1000
const UNREADABLE_MS = 30_000
/** Large payloads in memory at a time: each is there as text and as the body that is sent. */
const MAX_LARGE_BYTES = 32 * 1024 * 1024

export interface WorkerSettings extends AttemptSettings {
  deliveryLogRetentionDays: number
}

type SettledDelivery = Settled<DeliveryData, AttemptRecord>

export function createDeliveryWorker(
  core: Core,
  post: Post,
  settings: WorkerSettings,
): Worker<DeliveryData, Prepared, AttemptRecord> {
  const budget = new ByteBudget(MAX_LARGE_BYTES)
  return {
    queue: QUEUE,
    concurrency: core.settings.worker.concurrency,
    telemetry: deliveryTelemetry,
    prepare: (db, jobs) => prepare(core, db, jobs),
    perform: (job, prepared, signal) =>
      prepared.largeBytes === undefined
        ? perform(post, settings, job, prepared, signal)
        : performLarge(core.db, budget, post, settings, job, prepared, signal),
    record: (db, settled) => record(core, settings, db, settled),
    recordCompleted,
    afterRecord(settled) {
      if (settled.some(isGone)) core.queues.groupsChanged(QUEUE)
    },
    recordDiscarded: (db, jobs) => insertLogRows(db, jobs.map(skippedRow)),
    recoverMissing: (db, recovery, limit) =>
      recoverMissingPortion(core, settings.deliveryLogRetentionDays, db, recovery, limit),
  }
}

async function prepare(
  core: Core,
  db: Db,
  jobs: DeliveryJob[],
): Promise<(job: DeliveryJob) => Prepared> {
  const wanted = new Map<string, { name: string; id: string }>()
  const webhookIds = new Set<string>()
  for (const { data, published } of jobs) {
    const { target, event: name, eventId: id } = data
    webhookIds.add(target)
    if (id !== null && !isInHand(published)) wanted.set(eventKey(name, id), { name, id })
  }
  const [webhooks, events] = await Promise.all([
    findWebhooksForDelivery(db, [...webhookIds]),
    wanted.size === 0 ? [] : findPayloads(db, [...wanted.values()], LARGE_BYTES),
  ])
  const webhookOf = new Map(webhooks.map((webhook) => [webhook.id, opened(core, webhook)]))
  const eventOf = new Map(events.map((event) => [eventKey(event.name, event.id), event]))
  return ({ data: { target, event, eventId, payload }, published }) => {
    const webhook = webhookOf.get(target) ?? { webhook: undefined }
    if (isInHand(published)) {
      return { ...webhook, payload: published.payload, traceContext: published.traceContext }
    }
    const stored = eventId === null ? undefined : eventOf.get(eventKey(event, eventId))
    const largeBytes = stored && stored.bytes > LARGE_BYTES ? { largeBytes: stored.bytes } : {}
    return {
      ...webhook,
      payload: stored?.payload ?? payload,
      traceContext: stored?.traceContext ?? null,
      ...largeBytes,
    }
  }
}

/** One webhook whose secrets cannot be decrypted must not hold up the batch. */
function opened(
  core: Core,
  webhook: WebhookForDelivery,
): Pick<Prepared, 'webhook' | 'isUnreadable'> {
  try {
    return { webhook: open(core.cipher, webhook.id, webhook) }
  } catch (error) {
    core.log.error({ err: error, webhookId: webhook.id }, 'the deliveries of a webhook wait')
    return { webhook, isUnreadable: true }
  }
}

/** Whether the payload need not be read. A large one waits for its turn as any other. */
const isInHand = (
  published: DeliveryJob['published'],
): published is NonNullable<DeliveryJob['published']> =>
  published !== undefined && Buffer.byteLength(published.payload) <= LARGE_BYTES

/** As `perform`, with a payload that is read when the budget has room for it. */
async function performLarge(
  db: Db,
  budget: ByteBudget,
  post: Post,
  settings: AttemptSettings,
  job: DeliveryJob,
  { largeBytes = 0, ...prepared }: Prepared,
  signal: AbortSignal,
): Promise<Outcome<AttemptRecord>> {
  const { target, event: name, eventId } = job.data
  const reservation = await budget.reserve(target, largeBytes, signal)
  try {
    const found = await findPayloads(db, [{ name, id: eventId ?? '' }]).catch(() => null)
    // Postgres did not answer: the receiver is not to blame, and no attempt is used up.
    if (found === null) return { kind: 'postponed', delayMs: READ_AGAIN_MS }
    return await perform(post, settings, job, { ...prepared, payload: found[0]?.payload }, signal)
  } finally {
    reservation.release()
  }
}

async function perform(
  post: Post,
  settings: AttemptSettings,
  job: DeliveryJob,
  { webhook, payload, traceContext, isUnreadable }: Prepared,
  signal: AbortSignal,
): Promise<Outcome<AttemptRecord>> {
  const attempt = attemptNumberOf(job)
  if (webhook === undefined || payload === undefined) {
    return { kind: 'cancelled', detail: skippedAttempt(attempt) }
  }
  const { event, eventId, deliveryId, url } = job.data
  const isProbe = job.isTrial === true
  if (mustPark(webhook, job)) return { kind: 'parked' }
  // A fault of ours: another host may have the key, and no attempt is used up.
  if (isUnreadable === true) return { kind: 'postponed', delayMs: UNREADABLE_MS }
  const tenant = eventId === null ? null : tenantOfEvent(eventId)
  const passedOn = job.traceContext ?? traceContext
  const delivery = { event, payload, deliveryId, attempt, tenant, isProbe, traceContext: passedOn }
  const step =
    url === undefined
      ? await makeAttempt(post, settings, webhook, delivery, signal)
      : await makeAttemptElsewhere(url, post, settings, webhook, delivery, signal)
  if (isProbe && hasFailed(step)) return { kind: 'parked', detail: step.detail }
  if (step.kind === 'unsent') return unsentAgain(step.detail, job)
  if (step.kind !== 'failed' || webhook.retry === null) return step
  return { ...step, schedule: scheduleAfter(webhook.retry, job, Math.random) }
}

function mustPark(webhook: WebhookForDelivery, { data, grant, isTrial }: DeliveryJob): boolean {
  if (isTrial === true || data.url !== undefined) return false
  // Fetched while the webhook was being restricted: it waits for its turn with the others.
  return !webhook.active || (webhook.isRestricted && !grant)
}

/** A probe that fails uses up no attempt: the delivery waits on. */
const hasFailed = (
  step: AttemptStep,
): step is Extract<AttemptStep, { kind: 'failed' | 'dead' | 'unsent' }> =>
  step.kind === 'failed' || step.kind === 'dead' || step.kind === 'unsent'

const UNSENT_AT_LEAST_MS = 1000
const UNSENT_AT_MOST_MS = 5 * 60_000
const UNSENT_FOR_MS = 7 * 24 * 3600_000

/**
 * Nothing counts how often the proxy has failed: the delivery waits as long again as it has waited. A
 * proxy that works answers so for a receiver that is gone as well, so that this ends after a week.
 */
function unsentAgain(detail: AttemptRecord, { createdAt }: DeliveryJob): Outcome<AttemptRecord> {
  const ageMs = Math.max(UNSENT_AT_LEAST_MS, Date.now() - createdAt.getTime())
  if (ageMs > UNSENT_FOR_MS) return { kind: 'failed', detail, output: detail }
  const delayMs = Math.min(UNSENT_AT_MOST_MS, ageMs) * (0.9 + Math.random() * 0.2)
  return { kind: 'postponed', delayMs, detail }
}

/** Only ordinary deliveries: the others also write rows of lost attempts, or keep their event longer. */
function recordCompleted(
  completed: CompletedJob<DeliveryData, AttemptRecord>[],
): InsertCompleted | null {
  const yesterday = Date.now() - DAY_MS
  const rows: LogRow[] = []
  for (const { job, detail } of completed) {
    if (detail === undefined || job.lost || isOld(job, yesterday)) return null
    rows.push(attemptRow(job, detail, 'delivered', null))
  }
  return insertOfCompleted(rows)
}

async function record(
  core: Core,
  { deliveryLogRetentionDays }: WorkerSettings,
  db: Db,
  settled: SettledDelivery[],
): Promise<void> {
  const ended = settled.filter(({ result }) => result !== 'postponed' && result !== 'parked')
  const crashed = await crashedAttemptsBefore(
    db,
    ended.map(({ job }) => job),
  )
  await insertLogRows(db, [...crashed, ...settled.flatMap(rowsOf)])
  await retainEvents(db, olderEventsOf(settled), deliveryLogRetentionDays)
  const gone = new Set(ended.filter(isGone).map(({ job }) => job.data.target))
  await disable(core, db, [...gone], 'gone')
  await publishDead(core, db, deadDeliveriesOf(ended))
}

/** Whether the receiver answered 410: the attempts that are used up end as `failed`. */
const isGone = ({ outcome }: SettledDelivery): boolean => outcome.kind === 'dead'

const DAY_MS = 24 * 3600 * 1000

/**
 * The events that a row of the log may outlive: those of deliveries that took days, or were redriven.
 * All other events are kept as long as the log anyway.
 */
function olderEventsOf(settled: SettledDelivery[]): { name: string; id: string }[] {
  const yesterday = Date.now() - DAY_MS
  return settled.flatMap(({ job }) => {
    const { event: name, eventId: id } = job.data
    return isOld(job, yesterday) && id !== null ? [{ name, id }] : []
  })
}

const isOld = ({ data, createdAt }: DeliveryJob, yesterday: number): boolean =>
  data.attemptsBefore !== undefined || createdAt.getTime() < yesterday
