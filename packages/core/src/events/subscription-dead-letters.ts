/** `events.deadLetters` and `events.redrive`: events that a subscription has not handled. */
import { InvalidSubscription } from '../errors.ts'
import { isUuid } from '../ids.ts'
import { deadLetterQueueOf, type DeadLetter, type FanOutJob } from '../jobs/job.ts'
import {
  deleteDeadLetterOfQueues,
  listDeadLetters,
  listDeadLettersOfQueues,
  type DeadLetterFilter,
} from '../jobs/pg-boss/dead-letters.ts'
import type { RetrySettings } from '../jobs/retry-settings.ts'
import type { WorkerRegistry } from '../jobs/worker-registry.ts'
import { redriveDeadLetters } from '../jobs/pg-boss/redrive-dead-letters.ts'
import { isQueue } from '../jobs/pg-boss/boss.ts'
import { endedSpan } from '../jobs/recipients/work-table.ts'
import {
  isIntegerFrom,
  kindOf,
  resolveOptions,
  type OptionRules,
} from '../options/check-options.ts'
import type { Db } from '../postgres/transaction.ts'
import { publishedEventId, tenantOfEvent } from './event-id.ts'
import type { Events, RedriveOptions, SubscriptionDeadLetter } from './event-api.ts'
import { findPayloads } from './events-table.ts'
import { keyOf } from './publish-sql.ts'
import { queueOfSubscription, SUBSCRIPTION_QUEUES } from './subscription-worker.ts'
import { isRetired } from '../processes/declared-subscriptions-table.ts'
import { checkedSubscriptionName } from './validate-event.ts'

const DEFAULT_LIMIT = 100
const MOST = 1000
/** Rows that one statement moves: each is a transaction of its own. */
const PORTION = 1000

const PAGE: OptionRules = {
  limit: {
    expects: `an integer from 1 to ${MOST}`,
    is: isIntegerFrom(1, MOST),
    default: DEFAULT_LIMIT,
  },
  after: { expects: 'the id of a dead letter, which is a UUID', is: isUuid },
}

const SELECTION: OptionRules = {
  ids: { expects: 'a list of ids of dead letters, which are UUIDs', each: isUuid },
}

export interface DeadLetterOperations extends Pick<Events, 'deadLetters' | 'redrive'> {
  /** Of one subscription, or of all, newest first. */
  list: (filter: HandlerDeadLetterFilter) => Promise<HandlerDeadLetter[]>
  /** Deletes one, in the transaction `db`. Returns what it was; `undefined` where there is none. */
  delete: (db: Db, id: string) => Promise<DeletedDeadLetter | undefined>
  /** Whether a host of this database has subscribed by this name, and it has not ended. */
  isSubscription: (subscription: string) => Promise<boolean>
}

export interface HandlerDeadLetterFilter extends Pick<
  DeadLetterFilter,
  'event' | 'since' | 'until' | 'limit' | 'after'
> {
  subscription?: string | undefined
}

export interface HandlerDeadLetter extends SubscriptionDeadLetter {
  subscription: string
}

type DeletedDeadLetter = Pick<HandlerDeadLetter, 'subscription' | 'event' | 'eventId' | 'tenant'>

interface Parts {
  requestDb: Db
  readDb: Db
  retry: RetrySettings
  workers: Pick<WorkerRegistry, 'wake'>
}

/** `declare` writes the subscriptions of this process that are not in the database yet. */
export function createDeadLetterOperations(
  { requestDb, readDb, retry, workers }: Parts,
  declare: () => Promise<void>,
): DeadLetterOperations {
  return {
    async deadLetters(subscription, options = {}) {
      checkedSubscriptionName(subscription)
      const filter = resolveOptions<DeadLetterFilter>('events.deadLetters', PAGE, options)
      await declare()
      const queue = queueOfSubscription(subscription)
      if (!(await isQueue(readDb, deadLetterQueueOf(queue)))) throw unknown(subscription)
      return withEvents(readDb, await listDeadLetters<FanOutJob>(readDb, queue, filter))
    },

    async redrive(subscription, options = {}) {
      checkedSubscriptionName(subscription)
      const { ids } = resolveOptions<RedriveOptions>('events.redrive', SELECTION, options)
      await declare()
      // Jobs of a subscription that was retired are deleted.
      if (await isRetired(requestDb, subscription)) throw unknown(subscription)
      const queue = queueOfSubscription(subscription)
      // Events that become dead letters again meanwhile are not moved: a handler may refuse them as
      // quickly as they are moved.
      const until = await endedSpan(requestDb, null)
      let redriven = 0
      for (let afterId: string | undefined; ;) {
        const portion = { ids, until, afterId }
        const { count, lastId } = await redriveDeadLetters(
          requestDb,
          queue,
          portion,
          retry,
          PORTION,
        )
        redriven += count
        if (count > 0) workers.wake(queue)
        if (count < PORTION) return { redriven }
        afterId = lastId ?? undefined
      }
    },

    async list({ subscription, ...filter }) {
      const queue = subscription === undefined ? null : queueOfSubscription(subscription)
      const queues = { prefix: SUBSCRIPTION_QUEUES, queue }
      const letters = await listDeadLettersOfQueues<FanOutJob>(readDb, queues, filter)
      const shown = await withEvents(readDb, letters)
      return shown.map((letter, n) => ({
        ...letter,
        subscription: subscriptionOf(letters[n]?.queue ?? ''),
      }))
    },

    async delete(within, id) {
      const deleted = await deleteDeadLetterOfQueues<FanOutJob>(within, SUBSCRIPTION_QUEUES, id)
      if (deleted === undefined) return undefined
      const { event, eventId } = deleted.data
      return {
        subscription: subscriptionOf(deleted.queue),
        event,
        eventId: publishedEventId(eventId),
        tenant: tenantOfEvent(eventId),
      }
    },

    async isSubscription(subscription) {
      await declare()
      const queue = deadLetterQueueOf(queueOfSubscription(subscription))
      return (await isQueue(readDb, queue)) && !(await isRetired(readDb, subscription))
    },
  }
}

const subscriptionOf = (queue: string): string => queue.slice(SUBSCRIPTION_QUEUES.length)

async function withEvents(
  db: Db,
  letters: DeadLetter<FanOutJob>[],
): Promise<SubscriptionDeadLetter[]> {
  const refs = letters.map(({ data }) => ({ name: data.event, id: data.eventId }))
  const found = refs.length === 0 ? [] : await findPayloads(db, refs)
  const events = new Map(found.map((event) => [keyOf(event), event]))
  return letters.map(({ id, data, output, attempts, deadAt }) => {
    const event = events.get(keyOf({ name: data.event, id: data.eventId }))
    return {
      id,
      event: data.event,
      eventId: publishedEventId(data.eventId),
      tenant: tenantOfEvent(data.eventId),
      payload: event ? JSON.parse(event.payload) : null,
      publishedAt: event?.publishedAt ?? null,
      error: errorOf(output),
      attempts: attempts + (data.attemptsBefore ?? 0),
      diedAt: deadAt,
    }
  })
}

/** What the worker of a subscription wrote as its outcome; nothing where its process died. */
function errorOf(output: unknown): string {
  if (output === undefined || output === null) return 'lost'
  const { message } = output as { message?: unknown }
  return typeof message === 'string' ? message : kindOf(output)
}

const unknown = (subscription: string) =>
  new InvalidSubscription(
    `there is no subscription "${subscription}": give the name of one that a host of this database has subscribed`,
  )
