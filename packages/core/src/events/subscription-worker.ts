/** The worker of a durable subscription: reads the payloads, calls the handler, bounds its time. */
import type { Db } from '../postgres/transaction.ts'
import type { EventHandler } from './event-api.ts'
import type { ResolvedSubscribeOptions } from './validate-event.ts'
import { publishedEventId, tenantOfEvent } from './event-id.ts'
import { findPayloads } from './events-table.ts'
import { keyOf } from './publish-sql.ts'
import { storableMessage } from '../postgres/storable.ts'
import { errorTypeOf, SYSTEM } from '../telemetry/metrics.ts'
import { within } from '../time.ts'
import type { FanOutJob, Job } from '../jobs/job.ts'
import type { Outcome, Worker } from '../jobs/worker.ts'

interface HandlerRun {
  tookMs: number
  error?: unknown
}

type Event = { payload: string; publishedAt: Date; traceContext: string | null } | undefined
type HandlerWorker = Worker<FanOutJob, Event, HandlerRun>

export const SUBSCRIPTION_QUEUES = '__svc.sub/'
export const queueOfSubscription = (subscription: string): string =>
  `${SUBSCRIPTION_QUEUES}${subscription}`

export function createSubscriptionWorker(
  handler: EventHandler,
  options: ResolvedSubscribeOptions,
  log: { error(details: object, message: string): void },
): HandlerWorker {
  return {
    queue: queueOfSubscription(options.subscription),
    concurrency: options.concurrency,
    withoutRecipients: true,
    prepare: readEvents,
    telemetry: handlerTelemetry(options.subscription),
    async perform(job, event, signal): Promise<Outcome<HandlerRun>> {
      const eventId = publishedEventId(job.data.eventId)
      const about = { subscription: options.subscription, eventId }
      if (!event) {
        log.error(about, 'the event of a job was not found; the job is cancelled')
        return { kind: 'cancelled' }
      }
      const startedAt = performance.now()
      const run = (): HandlerRun => ({ tookMs: performance.now() - startedAt })
      try {
        await withinTime(options.timeoutSeconds, signal, (attemptSignal) =>
          handler(JSON.parse(event.payload), {
            id: eventId,
            name: job.data.event,
            tenant: tenantOfEvent(job.data.eventId),
            publishedAt: event.publishedAt,
            attempt: job.attempt + (job.data.attemptsBefore ?? 0),
            signal: attemptSignal,
          }),
        )
        return { kind: 'completed', detail: run() }
      } catch (error) {
        // The process closes, and the job goes back: this is no failure of the handler.
        if (signal.aborted) return { kind: 'postponed', delayMs: 0 }
        const { attempt, attemptsLeft } = job
        const isLastAttempt = attemptsLeft === 0
        log.error({ ...about, err: error, attempt, isLastAttempt }, 'subscription handler failed')
        const output = { message: storableMessage(error) }
        return { kind: 'failed', output, detail: { ...run(), error } }
      }
    },
  }
}

async function readEvents(db: Db, jobs: Job<FanOutJob>[]): Promise<(job: Job<FanOutJob>) => Event> {
  const unread = jobs.filter(({ published }) => published === undefined)
  const refs = unread.map(({ data }) => ({ name: data.event, id: data.eventId }))
  const found = refs.length === 0 ? [] : await findPayloads(db, refs)
  const events = new Map(found.map((event) => [keyOf(event), event]))
  return ({ data, published }) =>
    published ?? events.get(keyOf({ name: data.event, id: data.eventId }))
}

/** Rejects when the time is up, whether the call listens to its signal or not. */
async function withinTime(
  seconds: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => unknown,
): Promise<void> {
  const timeout = new AbortController()
  const called = call(AbortSignal.any([signal, timeout.signal]))
  await within(seconds * 1000, called, () => {
    const error = new Error(`took longer than timeoutSeconds (${seconds})`)
    timeout.abort(error)
    throw error
  })
}

/** The spans and metrics of its runs. */
const handlerTelemetry = (subscription: string): NonNullable<HandlerWorker['telemetry']> => ({
  start({ data, attempt, createdAt }, event) {
    const { attemptsBefore = 0, attemptedIn } = data
    const tenant = tenantOfEvent(data.eventId)
    const madeIn = event?.traceContext ?? null
    return {
      spanName: `process ${subscription}`,
      kind: 'consumer',
      event: data.event,
      subscription,
      attributes: {
        'messaging.system': SYSTEM,
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': data.event,
        'messaging.destination.subscription.name': subscription,
        'messaging.message.id': publishedEventId(data.eventId),
        'svc.attempt': attemptsBefore + attempt,
        ...(tenant === null ? {} : { 'svc.tenant': tenant }),
      },
      madeIn,
      links: [attemptedIn],
      publishedAt: attemptsBefore + attempt === 1 ? createdAt : null,
    }
  },
  end(outcome) {
    const { tookMs = null, error } = ('detail' in outcome && outcome.detail) || {}
    if (outcome.kind !== 'failed') return { error: null, durationMs: tookMs }
    const message = (error as Error | undefined)?.message ?? String(error)
    return { error: { type: errorTypeOf(error), message, thrown: error }, durationMs: tookMs }
  },
})
