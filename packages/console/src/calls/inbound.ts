import type { InboundFilter, InboundTest, LoggedRequest } from '@svc/webhooks'
import { isAdmin } from '../access/identity.ts'
import { Forbidden } from '../errors.ts'
import { Anything, asIs, callsOf, Id, List, Nothing, pageOf } from './call.ts'

const { reads, changes } = callsOf('webhooks')

type InboundQuery = Omit<InboundFilter, 'bodyBytes'>

/** Bodies of one page, in bytes. */
const PAGE_BYTES = 4 * 1024 * 1024

/** How many of the newest requests, and of those that were refused within a day, tell of their sources. */
const NEWEST = 200
const DAY_MS = 24 * 3_600_000
/** A source is quiet after ten of its usual times between two requests, and an hour at least. */
const QUIET_GAPS = 10
const SHORTEST_QUIET_MS = 3_600_000

function isQuiet(accepted: readonly LoggedRequest[]): boolean {
  const [newest, oldest] = [accepted[0], accepted.at(-1)].map((one) => Date.parse(one?.at ?? ''))
  if (accepted.length < 3 || newest === undefined || oldest === undefined) return false
  const usualMs = (newest - oldest) / (accepted.length - 1)
  return Date.now() - newest > Math.max(SHORTEST_QUIET_MS, QUIET_GAPS * usualMs)
}

export const inboundCalls = {
  /**
   * The sources of the newest requests, and those of this host for who may send samples: `notTestable` says why
   * one takes none. `refused`: within a day.
   */
  'inbound.sources': reads('inbound:read', Nothing, async (_: Nothing, { webhooks, identity }) => {
    const page = { limit: NEWEST, bodyBytes: 0 }
    const since = new Date(Date.now() - DAY_MS).toISOString()
    const [configured, newest, refused] = await Promise.all([
      isAdmin(identity) ? webhooks.listSources() : [],
      webhooks.listInbound(page),
      webhooks.listInbound({ ...page, outcome: 'refused', since }),
    ])
    const refusedOf = Map.groupBy(refused, ({ source }) => source)
    const known = new Map(configured.map(({ name, notTestable }) => [name, { notTestable }]))
    const heard = [...newest, ...refused].map(({ source }) => source)
    const names = new Set([...heard, ...known.keys()])
    return {
      items: [...names].map((source) => {
        const own = newest.filter((request) => request.source === source)
        const accepted = own.filter(({ outcome }) => outcome === 'accepted')
        const [last] = refusedOf.get(source) ?? []
        return {
          ...known.get(source),
          source,
          at: own[0]?.at ?? last?.at ?? '',
          acceptedAt: accepted[0]?.at ?? null,
          isQuiet: isQuiet(accepted),
          refused: {
            count: refusedOf.get(source)?.length ?? 0,
            ...(refused.length === NEWEST && { atLeast: true as const }),
            at: last?.at ?? null,
            reason: last?.reason ?? null,
          },
        }
      }),
    }
  }),
  'inbound.list': reads('inbound:read', List, (input: InboundQuery, { webhooks, masks }) =>
    pageOf(
      input,
      (page) => webhooks.listInbound({ ...page, bodyBytes: PAGE_BYTES }),
      (request) => masks.inbound(request),
      ({ bodyLeftOut }) => bodyLeftOut !== true,
    ),
  ),
  'inbound.test': changes(
    'inbound:write',
    Anything,
    async (input: InboundTest, { webhooks, identity }) => {
      if (!isAdmin(identity)) throw new Forbidden('admin')
      return webhooks.testInbound(input)
    },
  ),
  'inbound.replay': changes('inbound:write', Id, async ({ id }: Id, { webhooks }) =>
    asIs(await webhooks.replayInbound(id)),
  ),
}
