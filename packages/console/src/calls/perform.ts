/** The one place where a call is allowed or refused, and made. */
import { checkedInput, isDryRun } from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'
import { consoleOrigin } from '../access/sessions.ts'
import type { Identity } from '../access/identity.ts'
import type { ConsoleParts } from '../console-parts.ts'
import { Forbidden, NotSignedIn, UnknownOperation } from '../errors.ts'
import { SEES_KEY_EVENTS, seesKeyEvents } from '../access/payload-access.ts'
import { assertMayChange, assertMayRead } from '../access/sender.ts'
import type { By, Call } from './call.ts'
import { CALLS } from './calls.ts'

type AnyCall = Call<unknown, unknown>

const CALL_OF = new Map(Object.entries(CALLS) as [string, AnyCall][])

/** The rights of the identity for which this host has at least one operation. */
export const usableRights = (identity: Identity, features: ReturnType<ConsoleParts['features']>) =>
  identity.rights.filter((right) =>
    [...CALL_OF.values()].some((call) => call.right === right && isThere(call, features)),
  )

const isThere = ({ needs }: AnyCall, features: ReturnType<ConsoleParts['features']>): boolean =>
  needs === null || features[needs]

/** @throws UnknownOperation, ForeignOrigin, NotSignedIn, Forbidden, and what the operation throws */
export async function perform(
  parts: ConsoleParts,
  name: string,
  request: FastifyRequest,
): Promise<unknown> {
  const call = CALL_OF.get(name)
  if (!call || !isThere(call, parts.features())) throw new UnknownOperation(name.slice(0, 60))
  const { origin } = parts.settings
  if (call.changes) assertMayChange(request, origin)
  else assertMayRead(request, origin)
  const identity = await parts.identityOf(request)
  if (identity === null) throw new NotSignedIn()
  assertRight(identity, call)
  const input = checkedInput(call.input)(request.body)
  const kind = call.changes && !isDryRun(input) ? 'changes' : 'reads'
  const result = await parts.core.calls.run(identity.tenant, kind, () =>
    call.run(input, within(parts, identity, request)).catch(byRights),
  )
  if (call.changes) parts.live.notify()
  return result
}

/** The operations refuse events about keys by the scope of a key; a session has rights. */
function byRights(error: Error & { code?: string }): never {
  if (error.code === 'SVC_WEBHOOKS_KEY_EVENTS_NOT_ALLOWED') throw new Forbidden(SEES_KEY_EVENTS)
  throw error
}

/** @throws Forbidden */
function assertRight({ rights }: Identity, { right, orRight = right }: AnyCall): void {
  if (!rights.includes(right) && !rights.includes(orRight)) throw new Forbidden(right)
}

/** The operations for this caller: the reach and the actor are in them, and cannot be left out. */
function within(parts: ConsoleParts, identity: Identity, request: FastifyRequest): By {
  const { core, sessions, masks, live, links } = parts
  const { auth, webhooks } = core.svc as Partial<typeof core.svc>
  const origin = consoleOrigin(identity, request)
  const who = { ...origin, tenant: identity.tenant }
  return {
    identity,
    // A call that needs a plugin is made only where it is registered.
    auth: auth?.as({
      ...who,
      scopes: identity.scopes,
      mayLoosen: identity.mayLoosen,
    }) as By['auth'],
    webhooks: webhooks?.as({ ...who, keyEvents: seesKeyEvents(identity) }) as By['webhooks'],
    core,
    sessions,
    masks,
    origin,
    links,
    ended: live.recheck,
  }
}
