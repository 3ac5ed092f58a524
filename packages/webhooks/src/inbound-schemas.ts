/** The input and output of the operations on the log of inbound requests. */
import { Type, type Static } from '@sinclair/typebox'
import { STORABLE_TEXT, nullable, TenantFilter, type Input } from '@svc/core/internal'
import { closed, oneOf, paged, Time, Uuid } from './schema-pieces.ts'

const Outcome = oneOf(
  ['accepted', 'duplicate', 'refused', 'failed'],
  'A "refused" request was answered with a 4xx, a "failed" one with a 5xx: its sender tries again.',
)

export const inboundFilter = {
  source: Type.Optional(Type.String({ pattern: STORABLE_TEXT })),
  outcome: Type.Optional(Outcome),
  tenant: TenantFilter,
  since: Type.Optional(Time),
  until: Type.Optional(Time),
}

export const InboundFilter = Type.Object(
  {
    ...paged,
    bodyBytes: Type.Optional(Type.Integer({ minimum: 0 })),
    ...inboundFilter,
  },
  closed,
)
/**
 * Which inbound requests are listed. `tenant` is empty for those that have none; `since` is included
 * and `until` is not, both ISO 8601. Bodies are read until they have `bodyBytes` bytes together, by
 * default all of them; 0: none.
 */
export type InboundFilter = Input<typeof InboundFilter>

export const LoggedRequest = Type.Object({
  id: Uuid,
  at: Time,
  source: Type.String(),
  tenant: nullable(Type.String()),
  outcome: Outcome,
  reason: nullable(Type.String({ description: 'Why it was refused, or what failed.' })),
  event: nullable(Type.String({ description: 'The name of the event.' })),
  eventId: nullable(Type.String({ description: 'Of a batch that of its first event.' })),
  ip: nullable(Type.String()),
  bytes: Type.Integer({ description: 'Of the body.' }),
  durationMs: Type.Integer(),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
  ),
  body: Type.Optional(Type.String()),
})
/**
 * An inbound request. Where the host keeps raw bodies there are `headers`, with signatures and
 * credentials as `***`, and `body` of those that were verified; where a list left it out because of
 * `bodyBytes`, there is `bodyLeftOut` instead. Times are ISO 8601.
 */
export type LoggedRequest = Static<typeof LoggedRequest> & { bodyLeftOut?: true }

export const InboundTest = Type.Object(
  {
    source: Type.String({ description: 'Name of the source.' }),
    body: Type.Optional(
      Type.Unknown({
        description:
          'What the sender would send: JSON, or a text as it is. By default what is read of a request of its provider.',
      }),
    ),
  },
  closed,
)
/** A sample for a source. */
export type InboundTest = Input<typeof InboundTest>

export const InboundTestResult = Type.Object({
  outcome: Outcome,
  statusCode: Type.Integer({ description: 'Of the answer.' }),
  eventId: nullable(Type.String({ description: 'Of the event that was published.' })),
  answer: Type.String({ description: 'The body of the answer, at most 10000 characters.' }),
})
/** What came of a sample. */
export type InboundTestResult = Static<typeof InboundTestResult>

export const ConfiguredSource = Type.Object({
  name: Type.String(),
  path: Type.String(),
  notTestable: nullable(Type.String({ description: 'Why no sample can be sent to it.' })),
})
/** A source of the option `inbound`. */
export type ConfiguredSource = Static<typeof ConfiguredSource>

export const ReplayResult = Type.Object({
  eventId: Type.String(),
  eventIds: Type.Optional(Type.Array(Type.String())),
})
/** The new event; of a batch the first one, and all of them. */
export type ReplayResult = Static<typeof ReplayResult>
