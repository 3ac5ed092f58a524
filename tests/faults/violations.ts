/** Which promise was broken. Pure. */
import {
  GOES_ON_WITHIN_MS,
  idsOf,
  LIMITS,
  type Afterwards,
  type Attempt,
  type Counted,
  type Handled,
  type Ledger,
  type WebhookName,
} from './ledger.ts'
import { mostAtOnce, mostWithin } from './spans.ts'

const STEP_WEBHOOKS: WebhookName[] = ['ordered', 'rated', 'capped']
/** Each calls an idempotent subscription of its own. */
export const SENT_SUBSCRIPTIONS = ['sender.sent', 'second']

/** The ledger without what Postgres has lost, where it may lose commits. */
function kept(ledger: Ledger, stored: readonly string[]): Ledger {
  if (!ledger.isLossy) return ledger
  const ids = new Set(stored)
  const only = (of: Set<string>) => new Set([...of].filter((id) => ids.has(id)))
  return {
    ...ledger,
    published: only(ledger.published),
    accepted: only(ledger.accepted),
    steps: ledger.steps.filter((id) => ids.has(id)),
    attempts: ledger.attempts.filter(({ event }) => ids.has(event)),
  }
}

/** What is still awaited after the storm. */
export function missing(
  whole: Ledger,
  { handled, stored }: Pick<Afterwards, 'handled' | 'stored'>,
): string[] {
  const ledger = kept(whole, stored)
  const delivered = new Set(
    ledger.attempts
      .filter(({ end }) => end === 'answered')
      .map(({ webhook, event }) => `${webhook} ${event}`),
  )
  const calls = new Set(handled.map((row) => `${row.subscription} ${row.payload_id}`))
  const lacks: string[] = []
  const expect = (ids: Iterable<string>, webhooks: string[], subscriptions: string[]) => {
    for (const id of ids) {
      for (const webhook of webhooks) {
        if (!delivered.has(`${webhook} ${id}`)) lacks.push(`${id} was not delivered to ${webhook}`)
      }
      for (const subscription of subscriptions) {
        if (!calls.has(`${subscription} ${id}`)) lacks.push(`${id} did not reach ${subscription}`)
      }
    }
  }
  expect(ledger.published, ['plain'], ['order.created'])
  expect(ledger.steps, STEP_WEBHOOKS, [])
  expect(ledger.accepted, [], SENT_SUBSCRIPTIONS)
  return lacks
}

/** The promises that were broken, once nothing is awaited any more. */
export const violations = (whole: Ledger, afterwards: Afterwards): string[] =>
  broken(kept(whole, afterwards.stored), afterwards)

const broken = (ledger: Ledger, afterwards: Afterwards): string[] => [
  ...missing(ledger, afterwards),
  ...doubled(ledger.attempts),
  ...unlogged(ledger, afterwards.logged),
  ...againstOrders(ledger, afterwards.orders),
  ...outOfOrder(ledger),
  ...overWebhookLimits(ledger),
  ...ofSender(ledger, afterwards.handled),
  ...overKeyLimits(ledger),
  ...ofStatistics(ledger, afterwards.statistics),
  ...ofRevoked(ledger),
  ...ofMoves(ledger),
  ...counts([
    [ledger.forged, 'deliveries had a signature or an id that is wrong'],
    [afterwards.waiting, 'jobs wait, and nothing is awaited'],
    [afterwards.deadLetters, 'dead letters'],
  ]),
]

const counts = (of: [number, string][]): string[] =>
  of.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)

/** The same event to the same webhook has one delivery id, however often it comes. */
function doubled(attempts: readonly Attempt[]): string[] {
  const groups = Map.groupBy(attempts, ({ webhook, event }) => `${event} to ${webhook}`)
  return [...groups].flatMap(([name, group]) => {
    const ids = new Set(group.map(({ deliveryId }) => deliveryId))
    return ids.size > 1 ? [`${name} was delivered as ${ids.size} deliveries`] : []
  })
}

/** What was answered with 200 has a row in the log that says so, unless there was no room for it. */
function unlogged({ attempts, disturbances }: Ledger, logged: readonly string[]): string[] {
  const ids = new Set(logged)
  const full = disturbances.filter(({ kind }) => kind === 'disk full')
  return attempts
    .filter(({ end, deliveryId }) => end === 'answered' && !ids.has(deliveryId))
    .filter(({ from, until }) => !full.some((span) => from < span.until && until > span.from))
    .map(({ event, webhook }) => `the log does not say that ${event} was delivered to ${webhook}`)
}

function againstOrders({ attempts, seed }: Ledger, committed: readonly string[]): string[] {
  const orders = new Set(committed)
  const seen = new Set(attempts.map(({ event }) => event))
  return [
    ...[...seen]
      .filter((id) => id.startsWith(idsOf('order', seed)) && !orders.has(id))
      .map((id) => `${id} was delivered, and its transaction was rolled back`),
    ...committed.filter((id) => !seen.has(id)).map((id) => `${id} was committed and not delivered`),
  ]
}

/** When a host of an older version came among the others, which knows no order and no statistics. */
const olderSince = ({ disturbances }: Ledger): number =>
  Math.min(...disturbances.filter(({ kind }) => kind === 'older version').map(({ from }) => from))

/**
 * The first attempt of a step comes after the one before was answered with 200. A step that was not
 * acknowledged may have been committed at any time, or never.
 */
function outOfOrder(ledger: Ledger): string[] {
  const { attempts, steps } = ledger
  const latest = olderSince(ledger)
  const ordered = attempts.filter(({ webhook }) => webhook === 'ordered')
  const timesOf = (id: string) => {
    const own = ordered.filter(({ event }) => event === id)
    const answered = own.filter(({ end }) => end === 'answered')
    return {
      began: Math.min(...own.map(({ from }) => from)),
      delivered: Math.min(...answered.map(({ until }) => until)),
    }
  }
  const times = steps.map((id) => ({ id, ...timesOf(id) }))
  return times.flatMap(({ id, delivered }, index) => {
    const later = times.slice(index + 1)
    const early = later.find(({ began }) => began < Math.min(delivered, latest))
    return early ? [`${early.id} was attempted before ${id} was delivered`] : []
  })
}

/** What a receiver sees comes a little later than what was permitted. */
const RATE_SLACK_MS = 750
/** A host closes a connection before the receiver hears of it. */
const DROP_SLACK_MS = 500

function overWebhookLimits({ attempts, disturbances }: Ledger): string[] {
  const { rated, capped } = LIMITS
  const of = (name: WebhookName) => attempts.filter(({ webhook }) => webhook === name)
  const most = mostWithin(
    of('rated').map(({ from }) => ({ from, until: from })),
    rated.perSeconds * 1000 - RATE_SLACK_MS,
    disturbances,
  )
  const atOnce = mostAtOnce(
    of('capped').map(({ from, until, end }) => ({
      from,
      until: end === 'dropped' ? until - DROP_SLACK_MS : until,
    })),
    disturbances,
  )
  return [
    ...(most > rated.limit ? [`${most} attempts within a span of ${rated.limit}`] : []),
    ...(atOnce > capped ? [`${atOnce} attempts at a time, of ${capped}`] : []),
  ]
}

/** Exactly one event for each request that was accepted, and at most one for the others. */
function ofSender({ sent }: Ledger, handled: readonly Handled[]): string[] {
  const own = handled.filter(({ name }) => name === 'sender.sent')
  const calls = Map.groupBy(own, (row) => `${row.payload_id} in ${row.subscription}`)
  return [
    ...[...calls].flatMap(([what, rows]) =>
      rows.length > 1 ? [`${what} became ${rows.length} events`] : [],
    ),
    ...new Set(
      own
        .filter(({ payload_id: id }) => !sent.has(id))
        .map(({ payload_id: id }) => `${id} was handled, and nobody sent it`),
    ),
  ]
}

/** A revocation that was lost is lost in every process alike. */
function ofRevoked({ admittedRevoked, admittedBy, hosts, isLossy }: Ledger): string[] {
  const keys = [...new Set([...admittedRevoked, ...admittedBy.keys()])]
  const wrong = isLossy ? keys.filter((key) => admittedBy.get(key) !== hosts) : keys
  return wrong.length === 0 ? [] : [`${wrong.length} revoked keys were admitted`]
}

function ofMoves({ moves }: Ledger): string[] {
  const late = (ms: number, what: string) =>
    ms > GOES_ON_WITHIN_MS ? [`${what} ${Math.round(ms)} ms after the next primary`] : []
  return moves.flatMap(({ kind, host, publishedMs, deliveredMs }) => [
    ...late(publishedMs, `${kind}: host ${host} published`),
    ...late(deliveredMs, `${kind}: an event of host ${host} was delivered`),
  ])
}

function overKeyLimits({ admitted, limited, disturbances, isLossy }: Ledger): string[] {
  const { quota, key } = LIMITS
  // Statements that permit do not wait for the disk: a crash of Postgres may forget the last ones.
  const crashes = disturbances.filter(({ kind }) => kind === 'crash')
  const most = mostWithin(limited, key.perSeconds * 1000, crashes)
  return [
    ...(admitted > quota && !isLossy ? [`${admitted} requests passed a quota of ${quota}`] : []),
    ...(most > key.limit ? [`${most} requests passed a limit of ${key.limit}`] : []),
  ]
}

/** An older version logs its attempts, and does not count them. */
function ofStatistics(ledger: Ledger, statistics: readonly Counted[]): string[] {
  const isExact = olderSince(ledger) === Infinity
  return statistics
    .filter(({ logged, counted }) => counted > logged || (isExact && counted < logged))
    .map(
      ({ webhook, status, logged, counted }) =>
        `${webhook}: ${logged} attempts are logged as ${status}, ${counted} are counted`,
    )
}
