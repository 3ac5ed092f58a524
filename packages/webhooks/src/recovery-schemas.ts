/** The input and output of recoveries. */
import { Type, type Static } from '@sinclair/typebox'
import { nullable, TenantFilter, type Input } from '@svc/core/internal'
import { closed, oneOf, paged, Time, Uuid, WebhookId } from './schema-pieces.ts'

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

export const RecoverInput = Type.Object({ id: WebhookId, ...recovered }, closed)
/**
 * Which deliveries of the webhook `id` are recovered: those that became dead letters, whose last
 * attempt failed, or whose event was published from `since` (ISO 8601) until `until` (now).
 *
 * @example
 * const outage: RecoverInput = { id, what: 'missing', since: '2030-01-31T12:00:00Z', perSecond: 50 }
 */
export type RecoverInput = Input<typeof RecoverInput>

export const RecoverResult = Type.Object({
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

export const RecoverManyInput = Type.Object(
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

export const RecoverManyResult = Type.Object({
  deliveries: Type.Integer({
    description: 'Counted up to 10000 for each webhook, and for a few seconds.',
  }),
  webhooks: Type.Integer({ description: 'How many webhooks they are of.' }),
  atLeast: Type.Optional(Type.Literal(true, { description: 'There are more, or may be.' })),
})
/** How many deliveries are recovered, and of how many webhooks. `atLeast`: as of {@link RecoverResult}. */
export type RecoverManyResult = Static<typeof RecoverManyResult>

export const WebhookRecovery = Type.Object({
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

export const ListedRecoveries = Type.Object(
  {
    webhookId: WebhookId,
    ...paged,
    tenant: TenantFilter,
  },
  closed,
)
/** The recoveries of a webhook; none where it is not of the `tenant` (empty: of none) that is given. */
export type ListedRecoveries = Input<typeof ListedRecoveries>

export const RecoveryId = Type.Object({ webhookId: WebhookId, id: Type.String() }, closed)
