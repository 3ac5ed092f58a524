/** The operations on the dead letters of the host's own handlers: those of `svc.events.subscribe`. */
import { Type, type Static } from '@sinclair/typebox'
import {
  BY_PROCESS,
  insertAudit,
  Nothing,
  uuidOf,
  nullable,
  STORABLE_TEXT,
  Tenant,
  type Core,
  type Db,
  type Input,
} from '@svc/core/internal'
import { DeadLetterNotFound, SubscriptionNotFound } from '../errors.ts'
import { RedriveResult } from '../delivery-schemas.ts'
import { setDeliveriesPaused } from '../outbound/pause.ts'
import { ADMIN, assertOperator, operation, type Caller } from '../caller.ts'
import { closed, EventName, paged, Time, Uuid } from '../schema-pieces.ts'

const filters = {
  subscription: Type.Optional(EventName),
  event: Type.Optional(EventName),
  since: Type.Optional(Time),
  until: Type.Optional(Time),
}

const ListedHandlerDeadLetters = Type.Object({ ...filters, ...paged }, closed)
/**
 * Dead letters of a `subscription`, of an `event`, which died from `since` on and before `until`: at most `limit`
 * of them, those that follow `after`, newest first.
 */
export type ListedHandlerDeadLetters = Input<typeof ListedHandlerDeadLetters>

const HandlerDeadLetter = Type.Object({
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

const HandlerRedrive = Type.Object(
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

const PauseAllInput = Type.Object({ reason: Reason, tenant: Type.Optional(Tenant) }, closed)
/** Stops all deliveries, or those to the webhooks of a `tenant`, for a `reason`. */
export type PauseAllInput = Input<typeof PauseAllInput>

const ResumeAllInput = Type.Object({ tenant: Type.Optional(Tenant) }, closed)
/** Lets deliveries go on: those of a `tenant`, or all, but those of tenants that are paused. */
export type ResumeAllInput = Input<typeof ResumeAllInput>

const PausedAnswer = Type.Object({ paused: Type.Boolean() })
/** Whether it is paused now. */
export type PausedAnswer = Static<typeof PausedAnswer>

const HandlerPause = Type.Object({ subscription: EventName, reason: Reason }, closed)
/** The `subscription` whose handler is stopped, for a `reason`. */
export type HandlerPause = Input<typeof HandlerPause>

const HandlerResume = Type.Object({ subscription: EventName }, closed)

const HandlerDeadLetterId = Type.String({ description: 'Id of the dead letter.' })

/** For operators alone: a payload may be of any tenant, and an error of any part of the host. */
export function handlerOperations(core: Core) {
  const audit = (
    db: Db,
    { origin = BY_PROCESS }: Caller,
    subscription: string,
    row: Pick<Parameters<typeof insertAudit>[2][number], 'tenant' | 'action' | 'changes'>,
  ) => insertAudit(db, origin, [{ ...row, target: { kind: 'subscription', id: subscription } }])

  /** @throws SubscriptionNotFound */
  async function assertSubscription(subscription: string): Promise<void> {
    if (await core.handlers.isSubscription(subscription)) return
    throw new SubscriptionNotFound(subscription)
  }

  async function setPaused(
    by: Caller,
    paused: boolean,
    tenant: string | null,
    reason: string | null,
  ): Promise<PausedAnswer> {
    assertOperator(by)
    await core.within(by.db, async (db) => {
      if (!(await setDeliveriesPaused(core, db, paused, tenant, reason))) return
      const changes = {
        paused: { from: !paused, to: paused },
        ...(reason !== null && { reason: { from: null, to: reason } }),
      }
      const target = { kind: 'tenant', id: tenant ?? '*' } as const
      const action = paused ? 'webhook.pause-all' : 'webhook.resume-all'
      await insertAudit(db, by.origin ?? BY_PROCESS, [{ tenant, action, target, changes }])
    })
    return { paused }
  }

  return {
    listHandlerDeadLetters: operation({
      input: ListedHandlerDeadLetters,
      output: Type.Array(HandlerDeadLetter),
      routes: {
        'GET /handlers/dead-letters': {
          limit: 100,
          summary:
            "List the dead letters of the host's own handlers, newest first; for the operator",
          config: ADMIN,
        },
      },
      async run(by, filter) {
        assertOperator(by)
        const letters = await core.handlers.list(filter)
        return letters.map(({ publishedAt: _, diedAt, ...letter }) => ({
          ...letter,
          deadAt: diedAt.toISOString(),
        }))
      },
    }),

    redriveHandler: operation({
      input: HandlerRedrive,
      output: RedriveResult,
      routes: {
        'POST /handlers/redrive': {
          status: 202,
          summary:
            'Have dead letters of a handler handled again, with all their attempts; for the operator',
          config: ADMIN,
        },
      },
      async run(by, { subscription, ids }) {
        assertOperator(by)
        await assertSubscription(subscription)
        const { redriven } = await core.handlers.redrive(subscription, { ids })
        const changes = { redriven: { from: null, to: redriven } }
        const row = { tenant: null, action: 'subscription.redrive', changes }
        await core.transaction((db) => audit(db, by, subscription, row))
        return { redriven }
      },
    }),

    pauseAll: operation({
      input: PauseAllInput,
      output: PausedAnswer,
      writes: true,
      routes: {
        'POST /pause-all': {
          summary: 'Stop all deliveries, or those of a tenant; for the operator',
          config: ADMIN,
        },
      },
      run: (by, { tenant = null, reason = null }) => setPaused(by, true, tenant, reason),
    }),

    resumeAll: operation({
      input: ResumeAllInput,
      output: PausedAnswer,
      writes: true,
      routes: {
        'POST /resume-all': {
          summary: 'Let all deliveries go on, or those of a tenant; for the operator',
          config: ADMIN,
        },
      },
      run: (by, { tenant = null }) => setPaused(by, false, tenant, null),
    }),

    pauseHandler: operation({
      input: HandlerPause,
      output: PausedAnswer,
      writes: true,
      routes: {
        'POST /handlers/pause': {
          summary: 'Stop a handler of the host in all processes; for the operator',
          config: ADMIN,
        },
      },
      async run(by, { subscription, reason = null }) {
        assertOperator(by)
        await assertSubscription(subscription)
        await core.handlers.pause(subscription, { reason }, by)
        return { paused: true }
      },
    }),

    resumeHandler: operation({
      input: HandlerResume,
      output: PausedAnswer,
      writes: true,
      routes: {
        'POST /handlers/resume': {
          summary: 'Let a handler of the host go on; for the operator',
          config: ADMIN,
        },
      },
      async run(by, { subscription }) {
        assertOperator(by)
        await assertSubscription(subscription)
        await core.handlers.resume(subscription, by)
        return { paused: false }
      },
    }),

    deleteHandlerDeadLetter: operation({
      input: HandlerDeadLetterId,
      output: Nothing,
      writes: true,
      routes: {
        'DELETE /handlers/dead-letters/:id': {
          status: 204,
          summary: 'Delete a dead letter of a handler; for the operator',
          config: ADMIN,
        },
      },
      async run(by, given) {
        assertOperator(by)
        const id = uuidOf(given)
        await core.within(by.db, async (db) => {
          const deleted = id && (await core.handlers.delete(db, id))
          if (!deleted) throw new DeadLetterNotFound(given.slice(0, 40))
          const { subscription, tenant, event, eventId } = deleted
          const changes = { event: { from: event, to: null }, eventId: { from: eventId, to: null } }
          const action = 'subscription.delete-dead-letter'
          await audit(db, by, subscription, { tenant, action, changes })
        })
      },
    }),
  }
}
