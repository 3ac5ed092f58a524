/** The operations that put deliveries on their way again: those of a span, and dead letters. */
import { Type, type Static } from '@sinclair/typebox'
import {
  endedSpan,
  isStatementTimeout,
  listRecoveries,
  MOST_COUNTED,
  narrowedReach,
  reaches,
  uuidOf,
  nullable,
  TenantFilter,
  type RecoveryRequest,
  type Core,
  type Db,
  type Recovery,
  type Input,
} from '@svc/core/internal'
import { ForeignTenant, InvalidInput } from '@svc/core'
import { InvalidSpan, NoUrl, RecoveryNotFound, WebhookNotFound } from '../../errors.ts'
import { QUEUE } from '../delivery-queue.ts'
import { prepareMissed, previewMissed } from './recover-missed.ts'
import { DAY_MS, MONTH_MS } from '../../tables/log-spans.ts'
import { findSentWebhooks, keepWebhook, lockWebhooks } from '../../tables/webhooks.ts'
import type { StoredWebhook } from '../../tables/webhook-row.ts'
import { auditWork } from '../audit.ts'
import {
  assertMayReceive,
  existing,
  foundWebhook,
  mayReceive,
  operation,
  webhookIdOf,
  type Caller,
} from '../../caller.ts'
import { RedriveInput, RedriveResult } from '../../delivery-schemas.ts'
import { closed, oneOf, paged, Time, Uuid, WebhookId } from '../../schema-pieces.ts'

const What = oneOf(
  ['dead', 'failed', 'missing'],
  '"dead": dead letters, again. "failed": what waits for its next attempt, now. "missing": events that the webhook wants and never got a delivery of.',
)

const recovered = {
  since: Time,
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Not included; now.' })),
  what: What,
  perSecond: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'At most so many deliveries are queued in a second.',
    }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Only counts.' })),
}

const RecoverInput = Type.Object({ id: WebhookId, ...recovered }, closed)
/**
 * Which deliveries of the webhook `id` are recovered: those that became dead letters, whose last
 * attempt failed, or whose event was published from `since` (ISO 8601) until `until` (now).
 *
 * @example
 * const outage: RecoverInput = { id, what: 'missing', since: '2030-01-31T12:00:00Z', perSecond: 50 }
 */
export type RecoverInput = Input<typeof RecoverInput>

const RecoverResult = Type.Object({
  id: Type.Optional(Type.String({ format: 'uuid', description: 'Of the recovery.' })),
  deliveries: Type.Integer({ description: 'Counted up to 10000, and for a few seconds.' }),
  atLeast: Type.Optional(Type.Literal(true, { description: 'There are more, or may be.' })),
})
/**
 * How many deliveries are recovered, and the `id` of the recovery, which a `dryRun` does not have. With
 * `atLeast` the count stopped at 10000, or after some seconds: all are recovered nevertheless.
 */
export type RecoverResult = Static<typeof RecoverResult>

const MOST_WEBHOOKS = 1000

const RecoverManyInput = Type.Object(
  {
    webhookIds: Type.Optional(Type.Array(WebhookId, { minItems: 1, maxItems: MOST_WEBHOOKS })),
    tenant: TenantFilter,
    all: Type.Optional(Type.Literal(true)),
    ...recovered,
  },
  closed,
)
/**
 * The same of many webhooks: those with these `webhookIds` (1 to 1000), those of a `tenant` (empty: of none), or `all` of them that
 * the caller reaches. `perSecond` holds for each of them.
 *
 * @example
 * const outage: RecoverManyInput = { tenant: 'acme', what: 'dead', since: '2030-01-31T12:00:00Z' }
 */
export type RecoverManyInput = Input<typeof RecoverManyInput>

const RecoverManyResult = Type.Object({
  deliveries: Type.Integer({
    description: 'Counted up to 10000 for each webhook, and for a few seconds.',
  }),
  webhooks: Type.Integer({ description: 'How many webhooks they are of.' }),
  atLeast: Type.Optional(Type.Literal(true, { description: 'There are more, or may be.' })),
})
/** How many deliveries are recovered, and of how many webhooks. `atLeast`: as of {@link RecoverResult}. */
export type RecoverManyResult = Static<typeof RecoverManyResult>

const WebhookRecovery = Type.Object({
  id: Uuid,
  webhookId: Uuid,
  what: What,
  since: Time,
  until: Time,
  perSecond: nullable(Type.Integer()),
  deliveries: nullable(Type.Integer({ description: 'null until they are counted.' })),
  done: Type.Integer({ description: 'How many of them are on their way.' }),
  createdAt: Time,
  finishedAt: nullable(Time),
})
/** A recovery, and how far it is. */
export type WebhookRecovery = Static<typeof WebhookRecovery>

const ListedRecoveries = Type.Object(
  {
    webhookId: WebhookId,
    ...paged,
    tenant: TenantFilter,
  },
  closed,
)
/** The recoveries of a webhook; none where it is not of the `tenant` (empty: of none) that is given. */
export type ListedRecoveries = Input<typeof ListedRecoveries>

const RecoveryId = Type.Object({ webhookId: WebhookId, id: Type.String() }, closed)

/** `isAll`: whether there are no more. */
interface Counted {
  count: number
  isAll: boolean
}

const NOT_COUNTED: Counted = { count: 0, isAll: false }

const resultOf = ({ count, isAll }: Counted): RecoverResult => ({
  deliveries: count,
  ...(!isAll && { atLeast: true as const }),
})

/** How long a recovery over many webhooks counts. */
const COUNTED_MS = 15_000

type Asked = Omit<RecoveryRequest, 'recipient'>

/** Over which webhooks. */
type OverMany = Pick<RecoverManyInput, 'webhookIds' | 'tenant' | 'all'>

/** @throws InvalidSpan */
function askedOf(
  given: Pick<Static<typeof RecoverInput>, 'since' | 'until' | 'what' | 'perSecond'>,
): Asked {
  const { since, until = null, what, perSecond = null } = given
  if (until !== null && Date.parse(until) <= Date.parse(since)) {
    throw new InvalidSpan('until', 'since')
  }
  if (Date.parse(since) > Date.now() + CLOCKS_DIFFER_MS) throw new InvalidSpan('now', 'since')
  return { queue: QUEUE, what, since, until, perSecond }
}

/** A caller may take the time from its own clock. */
const CLOCKS_DIFFER_MS = 60_000

export function recoveryOperations(core: Core, logDays: number) {
  async function recoveriesOf(
    by: Caller,
    { tenant, ...input }: Static<typeof ListedRecoveries> & { id?: string },
  ): Promise<WebhookRecovery[]> {
    const { webhookId: given, ...page } = input
    const webhook = await foundWebhook(core.readDb, given, by)
    assertMayReceive(by, webhook.events)
    const narrowed = narrowedReach(by.reach, tenant)
    if (narrowed === undefined || !reaches(narrowed, webhook.tenant)) return []
    const recipient = webhook.id
    return (await listRecoveries(core.readDb, QUEUE, { recipient, ...page })).map(shown)
  }

  /** How many deliveries it would be. Not read in the transaction of a caller, which would keep the locks of all days. */
  async function counted(webhook: StoredWebhook, asked: Asked, dryRun: boolean): Promise<Counted> {
    if (!dryRun && asked.what !== 'missing') return NOT_COUNTED
    const db = core.readDb
    try {
      const count = await core.queues.countRecoverable(db, { ...asked, recipient: webhook.id })
      if (count !== null) {
        return { count: Math.min(count, MOST_COUNTED), isAll: count <= MOST_COUNTED }
      }
    } catch (error) {
      if (!isStatementTimeout(error)) throw error
      return NOT_COUNTED
    }
    const until = await endedSpan(db, asked.until)
    return previewMissed(db, { ...asked, until }, webhook, { logDays, most: MOST_COUNTED })
  }

  /** Begins a recovery. `seen`: what was counted before. `isTime`: to prepare it here. Returns its id, and how many deliveries it is. */
  async function begin(
    by: Caller,
    db: Db,
    id: string,
    asked: Asked,
    seen: Counted,
    isTime = true,
  ): Promise<Counted & { id: string }> {
    const { what, since } = asked
    const webhook = await foundWebhook(db, id, by)
    assertMayReceive(by, webhook.events)
    const recovery = await core.queues.recover(db, { ...asked, recipient: id })
    const isMissing = what === 'missing'
    const fromMs = Math.max(Date.parse(since), Date.now() - logDays * DAY_MS)
    // If there are more, or of more days, the events are written down in the background.
    const deliveries =
      isMissing && isTime && seen.isAll && fromMs > Date.now() - MONTH_MS
        ? await prepareMissed(db, recovery, webhook, logDays)
        : recovery.deliveries
    const uncounted = isMissing ? seen : { count: MOST_COUNTED, isAll: false }
    const result = deliveries === null ? uncounted : { count: deliveries, isAll: true }
    if (!(await keepWebhook(db, id))) throw new WebhookNotFound(id)
    await auditWork(db, by.origin, 'recover', webhook, {
      recovery: { from: null, to: { id: recovery.id, what, since, until: recovery.until } },
      deliveries: {
        from: null,
        to: result.isAll ? result.count : { atLeast: result.count },
      },
    })
    core.afterCommit(db, () => core.queues.recipientsChanged(QUEUE))
    return { id: recovery.id, ...result }
  }

  /** The webhooks of a recovery over many. Those that would tell a caller of events about keys are left out. */
  async function webhooksOf(
    by: Caller,
    db: Db,
    { webhookIds, tenant, all }: OverMany,
  ): Promise<StoredWebhook[]> {
    if ([webhookIds, tenant, all].filter((of) => of !== undefined).length !== 1) {
      throw new InvalidInput('give exactly one of webhookIds, tenant and all')
    }
    if (webhookIds === undefined) {
      const reach = narrowedReach(by.reach, tenant)
      if (reach === undefined) throw new ForeignTenant()
      const found = await findSentWebhooks(db, reach, null)
      return found.filter(({ events }) => mayReceive(by, events))
    }
    const ids = webhookIds.map(webhookIdOf)
    const found = await findSentWebhooks(db, by.reach, ids)
    const isFound = new Set(found.map(({ id }) => id))
    for (const id of ids) {
      if (isFound.has(id)) continue
      await foundWebhook(db, id, by)
      throw new NoUrl(id)
    }
    for (const { events } of found) assertMayReceive(by, events)
    return found
  }

  return {
    redrive: operation({
      input: RedriveInput,
      text: 'id',
      output: RedriveResult,
      writes: true,
      routes: {
        'POST /:id/redrive': {
          takes: {},
          status: 202,
          summary: 'Queue its dead letters again, with all their attempts',
        },
      },
      async run(by, { id, ids }) {
        const webhookId = webhookIdOf(id)
        return await core.within(by.db, async (db) => {
          const webhook = existing(webhookId, (await lockWebhooks(db, [webhookId], by.reach))[0])
          if (webhook.url === null) throw new NoUrl(webhookId)
          // The number of its dead letters would say what was published.
          if (!by.seesKeyEvents) {
            assertMayReceive(by, (await foundWebhook(db, webhookId, by)).events)
          }
          const redriven = await core.queues.redrive(db, QUEUE, webhookId, ids)
          await auditWork(db, by.origin, 'redrive', webhook, {
            redriven: { from: null, to: redriven },
          })
          core.afterCommit(db, () => core.queues.recipientsChanged(QUEUE))
          return { redriven }
        })
      },
    }),

    recover: operation({
      input: RecoverInput,
      output: RecoverResult,
      writes: true,
      routes: {
        'POST /:id/recover': {
          status: 202,
          statusOfDryRun: 200,
          summary: 'Put deliveries of a span on their way again: dead, failed or missing ones',
        },
      },
      async run(by, { dryRun = false, ...input }) {
        const id = webhookIdOf(input.id)
        const asked = askedOf(input)
        const found = await foundWebhook(by.db ?? core.readDb, id, by)
        assertMayReceive(by, found.events)
        if (found.url === null) throw new NoUrl(id)
        const seen = await counted(found, asked, dryRun)
        if (dryRun) return resultOf(seen)
        const begun = await core.within(by.db, (db) => begin(by, db, id, asked, seen))
        return { id: begun.id, ...resultOf(begun) }
      },
    }),

    recoverMany: operation({
      input: RecoverManyInput,
      output: RecoverManyResult,
      writes: true,
      routes: {
        'POST /recover': {
          status: 202,
          statusOfDryRun: 200,
          summary: 'Put deliveries of a span on their way again, over many webhooks',
        },
      },
      async run(by, { dryRun = false, webhookIds, tenant, all, ...input }) {
        const asked = askedOf(input)
        const db = by.db ?? core.readDb
        const webhooks = await webhooksOf(by, db, { webhookIds, tenant, all })
        const concerned = await core.queues.recipientsToRecover(core.readDb, asked)
        const result = { deliveries: 0, webhooks: 0 }
        let areAllCounted = true
        const countUntilMs = performance.now() + COUNTED_MS
        const isTime = () => performance.now() < countUntilMs
        // All are counted before the first one begins, so that the counts are those of a dry run.
        const counts: [id: string, seen: Counted][] = []
        for (const webhook of webhooks) {
          if (concerned?.has(webhook.id) === false) continue
          // What there is no time to count is counted in the background.
          const seen = isTime() ? await counted(webhook, asked, dryRun) : NOT_COUNTED
          counts.push([webhook.id, seen])
        }
        for (const [id, seen] of counts) {
          const isNone = asked.what === 'missing' && seen.isAll && seen.count === 0
          const its =
            dryRun || isNone
              ? seen
              : await core.within(by.db, (tx) => begin(by, tx, id, asked, seen, isTime()))
          areAllCounted &&= its.isAll
          result.deliveries += its.count
          if (its.count > 0 || !its.isAll) result.webhooks++
        }
        return { ...result, ...(!areAllCounted && { atLeast: true as const }) }
      },
    }),

    listRecoveries: operation({
      input: ListedRecoveries,
      text: 'webhookId',
      output: Type.Array(WebhookRecovery),
      routes: {
        'GET /:id/recoveries': {
          names: { id: 'webhookId' },
          limit: 100,
          summary: 'List its recoveries, newest first, and how far they are',
        },
      },
      run: recoveriesOf,
    }),

    getRecovery: operation({
      input: RecoveryId,
      output: WebhookRecovery,
      routes: {
        'GET /:id/recoveries/:recoveryId': {
          names: { id: 'webhookId', recoveryId: 'id' },
          summary: 'Say how far a recovery is',
        },
      },
      async run(by, { webhookId, id: given }) {
        const id = uuidOf(given)
        const [found] = id === undefined ? [] : await recoveriesOf(by, { webhookId, id })
        if (found === undefined) throw new RecoveryNotFound(given)
        return found
      },
    }),
  }
}

function shown({
  queue: _,
  recipient,
  hasNotedTransactions: _noted,
  position: _position,
  ...rest
}: Recovery) {
  return { ...rest, webhookId: recipient }
}
