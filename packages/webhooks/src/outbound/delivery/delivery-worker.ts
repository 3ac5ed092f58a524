/** How the jobs of the delivery queue are done: an attempt each, and its row in the log. */
import {
  findPayloads,
  retainEvents,
  type Core,
  type Db,
  type Job,
  type Outcome,
  type Settled,
  type Worker,
} from '@svc/core/internal'
import { insertLogRows, type LogRow } from '../../tables/delivery-log.ts'
import { findTargets, type Target } from '../../tables/webhooks.ts'
import { attempt, skippedAttempt, type Attempt, type AttemptSettings } from './attempt.ts'
import { ByteBudget } from './byte-budget.ts'
import { attemptOf, deliveryJobOf, keyOf } from './delivery-job.ts'
import { rowsOf, skippedRow } from './log-entry.ts'
import { lostBefore } from './crashed-attempts.ts'
import { QUEUE } from '../constants.ts'
import { pauseGone } from '../../operations/pause.ts'
import type { Post } from '../http/post.ts'

export interface Prepared {
  /** Undefined where the webhook is deleted. */
  target: Target | undefined
  /** JSON text; undefined where the event is gone. */
  payload: string | undefined
  /** Set where the payload is large: it is read when its attempt begins. */
  largeBytes?: number
}

/** Smaller payloads are read with their batch of jobs. */
const LARGE_BYTES = 64 * 1024
const READ_AGAIN_MS = 1000
/** Large payloads in memory at once: each is there as text and as the body that is sent. */
const LARGE_BYTES_AT_ONCE = 32 * 1024 * 1024

export interface Detail {
  attempt: Attempt
  /** The receiver said that it is gone for good. */
  gone?: true
}

export interface WorkerSettings extends AttemptSettings {
  deliveryLogRetentionDays: number
}

export function deliveryWorker(
  core: Core,
  post: Post,
  settings: WorkerSettings,
): Worker<unknown, Prepared, Detail> {
  const budget = new ByteBudget(LARGE_BYTES_AT_ONCE)
  return {
    queue: QUEUE,
    concurrency: core.settings.worker.concurrency,
    prepare,
    perform: (job, prepared, signal) =>
      prepared.largeBytes === undefined
        ? perform(post, settings, job, prepared, signal)
        : performLarge(core.db, budget, post, settings, job, prepared, signal),
    record: (db, settled) => record(core, settings, db, settled),
    afterRecord(settled) {
      if (settled.some(isGone)) core.queues.groupsChanged(QUEUE)
    },
    recordDiscarded: (db, jobs) => insertLogRows(db, jobs.map(skippedRow)),
  }
}

async function prepare(db: Db, jobs: Job[]): Promise<(job: Job) => Prepared> {
  const wanted = new Map<string, { name: string; id: string }>()
  for (const { event: name, eventId: id } of jobs.map(deliveryJobOf)) {
    if (id !== null) wanted.set(keyOf(name, id), { name, id })
  }
  const [targets, events] = await Promise.all([
    findTargets(db, [...new Set(jobs.map((job) => deliveryJobOf(job).target))]),
    wanted.size === 0 ? [] : findPayloads(db, [...wanted.values()], LARGE_BYTES),
  ])
  const targetOf = new Map(targets.map((target) => [target.id, target]))
  const eventOf = new Map(events.map((event) => [keyOf(event.name, event.id), event]))
  return (job) => {
    const { target, event, eventId, payload } = deliveryJobOf(job)
    const stored = eventId === null ? undefined : eventOf.get(keyOf(event, eventId))
    const largeBytes = stored && stored.bytes > LARGE_BYTES ? { largeBytes: stored.bytes } : {}
    return { target: targetOf.get(target), payload: stored?.payload ?? payload, ...largeBytes }
  }
}

/** As `perform`, with a payload that is read when there is room for it. */
async function performLarge(
  db: Db,
  budget: ByteBudget,
  post: Post,
  settings: AttemptSettings,
  job: Job,
  { target, largeBytes = 0 }: Prepared,
  signal: AbortSignal,
): Promise<Outcome<Detail>> {
  const { target: webhookId, event: name, eventId } = deliveryJobOf(job)
  const hold = await budget.take(webhookId, largeBytes, signal)
  try {
    const found = await findPayloads(db, [{ name, id: eventId ?? '' }]).catch(() => null)
    // Postgres did not answer: that is no fault of the receiver, and no attempt.
    if (found === null) return { kind: 'postponed', delayMs: READ_AGAIN_MS }
    return await perform(post, settings, job, { target, payload: found[0]?.payload }, signal)
  } finally {
    hold.release()
  }
}

async function perform(
  post: Post,
  settings: AttemptSettings,
  job: Job,
  { target, payload }: Prepared,
  signal: AbortSignal,
): Promise<Outcome<Detail>> {
  const { event, deliveryId } = deliveryJobOf(job)
  const number = attemptOf(job)
  if (target === undefined || payload === undefined) {
    return { kind: 'cancelled', detail: { attempt: skippedAttempt(number) } }
  }
  if (!target.active) return { kind: 'parked' }
  const delivery = { event, payload, deliveryId, attempt: number }
  const { step, attempt: made } = await attempt(post, settings, target, delivery, signal)
  switch (step.kind) {
    case 'delivered':
      return { kind: 'completed', detail: { attempt: made } }
    case 'gone':
      return { kind: 'dead', detail: { attempt: made, gone: true }, output: made }
    case 'failed': {
      const failed = { kind: 'failed', detail: { attempt: made }, output: made } as const
      return step.retryAfterMs === undefined
        ? failed
        : { ...failed, retryAfterMs: step.retryAfterMs }
    }
  }
}

async function record(
  core: Core,
  { deliveryLogRetentionDays }: WorkerSettings,
  db: Db,
  settled: Settled<unknown, Detail>[],
): Promise<void> {
  const made = settled.filter(({ result }) => result !== 'postponed' && result !== 'parked')
  const rows: LogRow[] = await lostBefore(
    db,
    made.map(({ job }) => job),
  )
  const gone = new Set<string>()
  for (const one of made) {
    rows.push(...rowsOf(one, detailOf(one)?.attempt))
    if (isGone(one)) gone.add(deliveryJobOf(one.job).target)
  }
  await insertLogRows(db, rows)
  await retainEvents(db, olderEventsOf(settled), deliveryLogRetentionDays)
  await pauseGone(core, db, [...gone])
}

const detailOf = ({ outcome }: Settled<unknown, Detail>): Detail | undefined =>
  'detail' in outcome ? outcome.detail : undefined

const isGone = (one: Settled<unknown, Detail>): boolean => detailOf(one)?.gone === true

const DAY_MS = 24 * 3600 * 1000

/**
 * The events that a row of the log may outlive: those of deliveries that took days, or were redriven.
 * All others are kept as long as the log by themselves.
 */
function olderEventsOf(settled: Settled<unknown, Detail>[]): { name: string; id: string }[] {
  const yesterday = Date.now() - DAY_MS
  return settled.flatMap(({ job }) => {
    const { event: name, eventId: id, attemptsBefore } = deliveryJobOf(job)
    const isOld = attemptsBefore !== undefined || job.createdAt.getTime() < yesterday
    return isOld && id !== null ? [{ name, id }] : []
  })
}
