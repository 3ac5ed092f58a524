/** The lists of attempts and of dead letters: of one webhook, or over all. */
import { Type } from '@sinclair/typebox'
import {
  EVERYWHERE,
  narrowedReach,
  shapeOf,
  type ListPage,
  type Core,
  type DeadLetterFilter,
  type Reach,
} from '@svc/core/internal'
import { QUEUE } from '../outbound/delivery-queue.ts'
import {
  DeliveryAttempt,
  deliveryFilter,
  latestOnly,
  ListedDeliveries,
  overAllWebhooks,
} from '../delivery-schemas.ts'
import { CountedDeadLetters, type Count } from '../schemas.ts'
import { listLogRows } from '../tables/delivery-lists.ts'
import type { LogRow } from '../tables/delivery-log.ts'
import { findWebhook, webhookIdsWithin } from '../tables/webhooks.ts'
import { operation, type Caller } from './caller.ts'
import { hiddenFrom } from './key-events.ts'
import {
  attemptsOfDead,
  fittingPage,
  jsonOf,
  parsed,
  withoutPayloads,
  withPayloads,
} from './delivery-attempts.ts'
import { countOf, existing, webhookIdOf } from './webhooks.ts'

/** Which attempts a caller asks for, without those that are hidden from it. */
type LogFilter = Omit<ListedDeliveries, 'tenant' | 'payloads'> & ReturnType<typeof hiddenFrom>

/** A page of attempts with their payloads. */
interface AttemptsPage {
  rows: LogRow[]
  /** Whether the list goes on: a page is bounded by its bytes as well. */
  hasMore: boolean
}

/** The caller of a page, and how many bytes its payloads may have together. */
interface Paging extends Caller {
  pageBytes?: number
}

/**
 * Without a `limit` all of them; with `pageBytes` fewer where their payloads have more bytes. A webhook
 * that is named has to exist; as a filter over all webhooks it need not.
 */
type List = (selection: ListedDeliveries, by: Paging) => Promise<AttemptsPage>

/** Payloads of one page, in bytes: a thousand payloads of some megabytes would not fit into memory. */
const PAGE_BYTES = 16 * 1024 * 1024

const NOTHING: AttemptsPage = { rows: [], hasMore: false }

export function deliveryLists(core: Core, days: number, longestAttemptMs: number) {
  /** A list of what the caller reaches. `find` is asked for one row more than the page has. */
  const within =
    (find: (filter: LogFilter, reach: Reach) => Promise<LogRow[]>): List =>
    async (selection, by) => {
      const { tenant, limit, payloads = true, ...filter } = { ...selection, ...hiddenFrom(by) }
      const reach = narrowedReach(by.reach, tenant)
      if (reach === undefined) return NOTHING
      const most = limit === undefined ? {} : { limit: limit + 1 }
      const found = await find({ ...filter, ...most }, reach)
      const wanted = limit === undefined ? found : found.slice(0, limit)
      if (!payloads) return { rows: withoutPayloads(wanted), hasMore: wanted.length < found.length }
      const rows =
        by.pageBytes === undefined ? wanted : await fittingPage(core.readDb, wanted, by.pageBytes)
      return { rows: await withPayloads(core.readDb, rows), hasMore: rows.length < found.length }
    }

  const overAll = within((filter, reach) =>
    listLogRows(core.readDb, days, { ...filter, reach, longestAttemptMs }),
  )

  const deadOverAll = within(async ({ webhookId, status = 'dead', ...filter }, reach) => {
    if (status !== 'dead') return []
    const of = await recipientsOf(reach, webhookId)
    return attemptsOfDead(await core.queues.deadLetters(core.readDb, QUEUE, { ...filter, ...of }))
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
      const webhookId = webhookIdOf(selection.webhookId)
      existing(webhookId, await findWebhook(core.readDb, webhookId, by.reach))
      // The webhook is within reach, and what was delivered to it with it.
      return list({ ...selection, webhookId }, { ...by, reach: EVERYWHERE })
    }
  }

  /** A page as a route sends it: a serializer would round the big numbers of a payload. */
  const page =
    (list: List) =>
    async (by: Caller, selection: ListedDeliveries): Promise<ListPage> => {
      const { rows, hasMore } = await list(selection, { ...by, pageBytes: PAGE_BYTES })
      return { rows, hasMore, json: `[${rows.map(jsonOf).join(',')}]` }
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
      run: async (by, selection) => (await attempts(selection, by)).rows.map(parsed),
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
