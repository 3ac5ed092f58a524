/** The operations on the dead letters of the host's own handlers: those of `svc.events.subscribe`. */
import { Type } from '@sinclair/typebox'
import {
  BY_PROCESS,
  EVERYWHERE,
  insertAudit,
  Nothing,
  uuidOf,
  type Core,
  type Db,
} from '@svc/core/internal'
import { DeadLetterNotFound, OperatorOnly, SubscriptionNotFound } from '../errors.ts'
import {
  HandlerDeadLetter,
  HandlerDeadLetterId,
  HandlerRedrive,
  ListedHandlerDeadLetters,
} from '../handler-schemas.ts'
import { RedriveResult } from '../delivery-schemas.ts'
import { operation, type Caller } from './caller.ts'

/** Only an operator with `admin`: a payload may be of any tenant, and an error of any part of the host. */
const ADMIN = { scopes: ['admin'] }

/** @throws OperatorOnly */
function assertOperator({ reach }: Caller): void {
  if (reach !== EVERYWHERE) throw new OperatorOnly()
}

export function handlerOperations(core: Core) {
  async function audit(
    db: Db,
    { origin = BY_PROCESS }: Caller,
    action: string,
    subscription: string,
    {
      tenant,
      changes,
    }: { tenant: string | null; changes: Record<string, { from: unknown; to: unknown }> },
  ): Promise<void> {
    const target = { kind: 'subscription', id: subscription } as const
    await insertAudit(db, origin, [{ tenant, action: `subscription.${action}`, target, changes }])
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
        if (!(await core.handlers.isSubscription(subscription))) {
          throw new SubscriptionNotFound(subscription)
        }
        const { redriven } = await core.handlers.redrive(subscription, { ids })
        const changes = { redriven: { from: null, to: redriven } }
        await core.transaction((db) =>
          audit(db, by, 'redrive', subscription, { tenant: null, changes }),
        )
        return { redriven }
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
          await audit(db, by, 'delete-dead-letter', subscription, { tenant, changes })
        })
      },
    }),
  }
}
