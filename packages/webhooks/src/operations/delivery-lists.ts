/** The lists of attempts and of dead letters: of one webhook, or over all. */
import { Type } from '@sinclair/typebox'
import {
  EVERYWHERE,
  narrowedReach,
  shapeOf,
  findPayloadSizes,
  findPayloads,
  publishedEventId,
  tenantOfEvent,
  type ListPage,
  type Core,
  type DeadLetterFilter,
  type Reach,
  type DeadLetter,
} from '@svc/core/internal'
import { QUEUE, attemptCountOf, eventKey, type DeliveryData } from '../outbound/delivery-queue.ts'
import {
  DeliveryAttempt,
  deliveryFilter,
  latestOnly,
  ListedDeliveries,
  overAllWebhooks,
  type FoundDeliveries,
} from '../delivery-schemas.ts'
import { CountedDeadLetters, type Count } from '../schemas.ts'
import { walkLog, type Walked } from '../tables/delivery-lists.ts'
import type { LogRow } from '../tables/delivery-log.ts'
import { webhookIdsWithin } from '../tables/webhooks.ts'
import { foundWebhook, hiddenFrom, operation, type Caller } from '../caller.ts'
import { countOf } from './webhooks.ts'
import { ListTooLong, type Db } from '@svc/core'
import { unsent, rowOf, type AttemptRecord } from '../outbound/delivery/record-deliveries.ts'

/** Which attempts a caller asks for, without those that are hidden from it. */
type LogFilter = Omit<ListedDeliveries, 'tenant' | 'payloads'> & ReturnType<typeof hiddenFrom>

/** A page of attempts with their payloads. */
interface AttemptsPage {
  rows: LogRow[]
  /** Whether the list goes on: a page is bounded by its bytes as well. */
  hasMore: boolean
  /** What the next page follows, where the search for this one ended early. */
  next?: string | undefined
}

/** The caller of a page, how many bytes its payloads may have together, and how long it may be searched for. */
interface Paging extends Caller {
  pageBytes?: number
  longestMs?: number
}

/**
 * Without a `limit` all of them; with `pageBytes` fewer where their payloads have more bytes. A webhook
 * that is named has to exist; as a filter over all webhooks it need not.
 */
type List = (selection: ListedDeliveries, by: Paging) => Promise<AttemptsPage>

/** Payloads of one page, in bytes: a thousand payloads of some megabytes would not fit into memory. */
const PAGE_BYTES = 16 * 1024 * 1024

/** A page of attempts that takes longer than this has fewer of them. */
const LONGEST_SEARCH_MS = 1500
/** A list as a whole is all or nothing: it takes no longer than any statement of a read. */
const LONGEST_LIST_MS = 5000
const USUAL = 50

const NOTHING: AttemptsPage = { rows: [], hasMore: false }

export function deliveryLists(core: Core, days: number, longestAttemptMs: number) {
  /** A list of what the caller reaches. `find` is asked for one row more than the page has. */
  const within =
    (find: (filter: LogFilter, reach: Reach, longestMs?: number) => Promise<Walked>): List =>
    async (selection, by) => {
      const { tenant, limit, payloads = true, ...filter } = { ...selection, ...hiddenFrom(by) }
      const reach = narrowedReach(by.reach, tenant)
      if (reach === undefined) return NOTHING
      const most = limit === undefined ? {} : { limit: limit + 1 }
      const { rows: found, cutAt } = await find({ ...filter, ...most }, reach, by.longestMs)
      const wanted = limit === undefined ? found : found.slice(0, limit)
      const rows =
        !payloads || by.pageBytes === undefined
          ? wanted
          : await fittingPage(core.readDb, wanted, by.pageBytes)
      const isCut = rows.length < found.length
      return {
        rows: payloads ? await withPayloads(core.readDb, rows) : withoutPayloads(rows),
        hasMore: isCut || cutAt !== undefined,
        ...(!isCut && { next: cutAt }),
      }
    }

  const overAll = within((filter, reach, longestMs) =>
    walkLog(core.readDb, days, { ...filter, reach, longestAttemptMs }, longestMs),
  )

  const deadOverAll = within(async ({ webhookId, status = 'dead', ...filter }, reach) => {
    if (status !== 'dead') return { rows: [] }
    const of = await recipientsOf(reach, webhookId)
    return {
      rows: attemptsOfDead(await core.queues.deadLetters(core.readDb, QUEUE, { ...filter, ...of })),
    }
  })

  async function countDead(by: Caller, { tenant, webhookId }: CountedDeadLetters): Promise<Count> {
    const narrowed = narrowedReach(by.reach, tenant)
    if (narrowed === undefined) return { count: 0 }
    const { except } = hiddenFrom(by)
    const of = { except, ...(await recipientsOf(narrowed, webhookId)) }
    return countOf(await core.queues.countDead(core.readDb, QUEUE, of))
  }

  async function recipientsOf(
    reach: Reach,
    webhookId: string | undefined,
  ): Promise<Pick<DeadLetterFilter, 'recipients'>> {
    if (reach !== EVERYWHERE)
      return { recipients: await webhookIdsWithin(core.readDb, reach, webhookId) }
    return webhookId === undefined ? {} : { recipients: [webhookId.toLowerCase()] }
  }

  const ofOne = (list: List): List => {
    return async (selection, by) => {
      if (selection.webhookId === undefined) return list(selection, by)
      const { id: webhookId } = await foundWebhook(core.readDb, selection.webhookId, by)
      // The webhook is within reach, and what was delivered to it with it.
      return list({ ...selection, webhookId }, { ...by, reach: EVERYWHERE })
    }
  }

  /** A page as a route sends it: a serializer would round the big numbers of a payload. */
  const page =
    (list: List) =>
    async (by: Caller, selection: ListedDeliveries): Promise<ListPage> => {
      const bounds = { pageBytes: PAGE_BYTES, longestMs: LONGEST_SEARCH_MS }
      const { rows, ...page } = await list(selection, { ...by, ...bounds })
      return { rows, ...page, json: `[${rows.map(jsonOf).join(',')}]` }
    }

  const attempts = ofOne(overAll)
  const dead = ofOne(deadOverAll)
  return {
    listDeliveries: operation({
      input: ListedDeliveries,
      text: 'webhookId',
      output: Type.Array(DeliveryAttempt),
      routes: {
        'GET /deliveries': {
          takes: { ...deliveryFilter, ...latestOnly, ...overAllWebhooks },
          limit: 100,
          page: page(overAll),
          summary: 'List the attempts of all deliveries, newest first',
        },
        'GET /:id/deliveries': {
          names: { id: 'webhookId' },
          takes: { ...deliveryFilter, ...latestOnly },
          limit: 100,
          page: page(attempts),
          summary: 'List the attempts of its deliveries, newest first',
        },
      },
      async run(by, selection) {
        const { rows, next } = await attempts(selection, { ...by, longestMs: LONGEST_LIST_MS })
        if (next !== undefined) throw new ListTooLong()
        return rows.map(parsed)
      },
    }),

    searchDeliveries: operation({
      input: ListedDeliveries,
      output: shapeOf<FoundDeliveries>(),
      async run(by, { limit = USUAL, ...selection }) {
        const bounded = { ...by, longestMs: LONGEST_SEARCH_MS }
        const { rows, hasMore, next } = await attempts({ ...selection, limit }, bounded)
        return {
          items: rows.map(parsed),
          next: hasMore ? (next ?? rows.at(-1)?.id ?? null) : null,
          complete: next === undefined,
        }
      },
    }),

    listDeadLetters: operation({
      input: ListedDeliveries,
      text: 'webhookId',
      output: Type.Array(DeliveryAttempt),
      routes: {
        'GET /dead-letters': {
          takes: { ...deliveryFilter, ...overAllWebhooks },
          limit: 1000,
          page: page(deadOverAll),
          summary: 'List all dead letters, newest first: deliveries whose attempts are used up',
        },
        'GET /:id/dead-letters': {
          names: { id: 'webhookId' },
          takes: deliveryFilter,
          limit: 1000,
          page: page(dead),
          summary: 'List its dead letters, newest first: deliveries whose attempts are used up',
        },
      },
      run: async (by, selection) => (await dead(selection, by)).rows.map(parsed),
    }),

    countDeadLetters: operation({
      input: CountedDeadLetters,
      output: shapeOf<Count>(),
      run: countDead,
    }),
  }
}

// Rows of the log and dead letters as the API shows them. Payloads stay JSON text wherever possible:
// a parser rounds big numbers.

/** Shows each dead letter as the last attempt of its delivery, under the dead letter's own id. */
export function attemptsOfDead(letters: DeadLetter<DeliveryData>[]): LogRow[] {
  return letters.map((letter) => {
    const { output, deadAt } = letter
    const last = isRecord(output) ? output : unsent(attemptCountOf(letter), 'lost', deadAt)
    return { ...rowOf(letter.data, last, 'dead', null), id: letter.id }
  })
}

export const parsed = ({ payload, testedUrl: _, ...row }: LogRow): DeliveryAttempt => ({
  ...row,
  payload: payload === null ? null : JSON.parse(payload),
})

/** JSON text in which the payload is the text that was published. */
export const jsonOf = ({ payload, testedUrl: _, ...row }: LogRow): string =>
  `${JSON.stringify(row).slice(0, -1)},"payload":${payload ?? 'null'}}`

/** The first of these rows whose payloads have at most `pageBytes` bytes together; at least one. */
export async function fittingPage(db: Db, rows: LogRow[], pageBytes: number): Promise<LogRow[]> {
  const events = [...eventsOf(rows).values()]
  const sizes = new Map(
    (events.length === 0 ? [] : await findPayloadSizes(db, events)).map(({ name, id, bytes }) => [
      eventKey(name, id),
      bytes,
    ]),
  )
  let bytes = 0
  const end = rows.findIndex(({ event, eventId, payload }, index) => {
    bytes += payload?.length ?? sizes.get(eventKey(event, eventId)) ?? 0
    return bytes > pageBytes && index > 0
  })
  return end === -1 ? rows : rows.slice(0, end)
}

/**
 * The rows as they are shown: with the payloads that events hold, and the ids and tenants that the
 * publishes gave.
 */
export async function withPayloads(db: Db, rows: LogRow[]): Promise<LogRow[]> {
  const wanted = eventsOf(rows)
  const events = wanted.size === 0 ? [] : await findPayloads(db, [...wanted.values()])
  const payloads = new Map(events.map(({ name, id, payload }) => [eventKey(name, id), payload]))
  return rows.map((row) => {
    const { event, eventId, payload } = row
    return shown(row, payload ?? payloads.get(eventKey(event, eventId)) ?? null)
  })
}

export const withoutPayloads = (rows: LogRow[]): LogRow[] => rows.map((row) => shown(row, null))

function shown(row: LogRow, payload: string | null): LogRow {
  const { eventId } = row
  const eventTenant = eventId && tenantOfEvent(eventId)
  return {
    ...row,
    eventId: eventId && publishedEventId(eventId),
    ...(eventTenant !== null && { eventTenant }),
    payload,
  }
}

/** The events of these rows, each once: one event may have many attempts. */
const eventsOf = (rows: LogRow[]): Map<string, { name: string; id: string }> =>
  new Map(
    rows.flatMap(({ event: name, eventId: id }) =>
      id === null ? [] : [[eventKey(name, id), { name, id }]],
    ),
  )

const isRecord = (output: unknown): output is AttemptRecord =>
  typeof output === 'object' && output !== null && 'attemptedAt' in output
