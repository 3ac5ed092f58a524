/** The input and output of the operations on the host's own handlers. */
import { Type, type Static } from '@sinclair/typebox'
import { nullable, STORABLE_TEXT, Tenant, type Input } from '@svc/core/internal'
import { closed, EventName, paged, Time, Uuid } from './schema-pieces.ts'

const filters = {
  subscription: Type.Optional(EventName),
  event: Type.Optional(EventName),
  since: Type.Optional(Time),
  until: Type.Optional(Time),
}

export const ListedHandlerDeadLetters = Type.Object({ ...filters, ...paged }, closed)
/**
 * Dead letters of a `subscription`, of an `event`, which died from `since` on and before `until`: at most `limit`
 * of them, those that follow `after`, newest first.
 */
export type ListedHandlerDeadLetters = Input<typeof ListedHandlerDeadLetters>

export const HandlerDeadLetter = Type.Object({
  id: Uuid,
  subscription: Type.String(),
  event: Type.String(),
  eventId: Type.String(),
  tenant: nullable(Type.String({ description: "null for the operator's." })),
  payload: Type.Unknown({ description: 'null where the event is deleted.' }),
  attempts: Type.Integer(),
  error: Type.String({
    description: 'What the handler threw last; "lost" where its process died.',
  }),
  deadAt: Time,
})
/** An event that a handler of the host has not handled, after all its attempts. */
export type HandlerDeadLetter = Static<typeof HandlerDeadLetter>

export const HandlerRedrive = Type.Object(
  {
    subscription: EventName,
    ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 1000 })),
  },
  closed,
)
/** The `subscription` whose dead letters are handled again; with `ids` only those. */
export type HandlerRedrive = Input<typeof HandlerRedrive>

const Reason = Type.Optional(
  nullable(
    Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: STORABLE_TEXT,
      description: 'Why, for those who see it.',
    }),
  ),
)

export const PauseAllInput = Type.Object({ reason: Reason, tenant: Type.Optional(Tenant) }, closed)
/** Stops all deliveries, or those to the webhooks of a `tenant`, for a `reason`. */
export type PauseAllInput = Input<typeof PauseAllInput>

export const ResumeAllInput = Type.Object({ tenant: Type.Optional(Tenant) }, closed)
/** Lets deliveries go on: those of a `tenant`, or all, but those of tenants that are paused. */
export type ResumeAllInput = Input<typeof ResumeAllInput>

export const PausedAnswer = Type.Object({ paused: Type.Boolean() })
/** Whether it is paused now. */
export type PausedAnswer = Static<typeof PausedAnswer>

export const HandlerPause = Type.Object({ subscription: EventName, reason: Reason }, closed)
/** The `subscription` whose handler is stopped, for a `reason`. */
export type HandlerPause = Input<typeof HandlerPause>

export const HandlerResume = Type.Object({ subscription: EventName }, closed)

export const HandlerDeadLetterId = Type.String({ description: 'Id of the dead letter.' })
