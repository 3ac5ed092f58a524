/** Whom a change came from. */
import { storableText } from '../postgres/storable.ts'
import type { AuditActor } from './audit-entry.ts'

export interface AuditOrigin {
  actor: AuditActor
  /** `null` for a change that no request made. */
  requestId: string | null
  ip: string | null
}

/** The caller as `request.auth` has it, whichever plugin guards the routes. */
export interface AuditCaller {
  keyId?: string | null
  userId?: string | null
  bootstrap?: boolean
}

const withoutKey = (kind: AuditActor['kind']): AuditOrigin => ({
  actor: { kind, keyId: null, userId: null },
  requestId: null,
  ip: null,
})

/** Code of this process. */
export const BY_PROCESS: AuditOrigin = withoutKey('process')
/** The origin of changes that the packages make themselves, such as the expiry of a key. */
export const BY_SYSTEM: AuditOrigin = withoutKey('system')

export function actorOf(caller: AuditCaller | null | undefined): AuditActor {
  if (!caller) return BY_PROCESS.actor
  const { keyId = null, userId = null, bootstrap = false } = caller
  return { kind: bootstrap ? 'bootstrap' : 'key', keyId, userId }
}

interface AuditedRequest {
  id: unknown
  ip: string
  auth?: AuditCaller | null | undefined
}

export const originOf = (request: object): AuditOrigin => {
  const { auth, id, ip } = request as AuditedRequest
  return storedOrigin(actorOf(auth), String(id), ip ?? null)
}

/** What a request, or the code of the host, says of itself may be any text. */
export const storedOrigin = (
  actor: AuditActor,
  requestId: string | null,
  ip: string | null,
): AuditOrigin => ({
  actor,
  requestId: requestId === null ? null : storableText(String(requestId), LONGEST_TEXT),
  ip: ip === null ? null : storableText(String(ip), LONGEST_TEXT),
})

const LONGEST_TEXT = 1000
