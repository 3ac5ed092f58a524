/** Sessions: how they begin and end, and who they are. */
import {
  insertAudit,
  isUuid,
  uuidv7,
  type AuditOrigin,
  type Core,
  type Reach,
} from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'
import type {} from '@svc/auth'
import { LinkUsed, NoKeySignIn, SessionNotFound } from '../errors.ts'
import type { ConsoleSettings } from '../options.ts'
import { SIGN_IN_SCOPES } from '../rights.ts'
import { takePortalCode } from '../tables/portal-codes.ts'
import {
  deleteSession,
  findSession,
  insertSession,
  type NewSession,
  type SessionRow,
} from '../tables/sessions.ts'
import { identityOfAccess, identityOfKey, identityOfPortal, type Identity } from './identity.ts'
import { refusalOf } from './key-refusal.ts'
import { hashOfToken, isToken, newToken } from './token.ts'

const EIGHT_HOURS = 8 * 3600
const BOOTSTRAP = { scopes: ['admin'], managementScopes: ['admin'], isRestricted: false }

/** A session that has just begun, and what its cookie holds. */
export interface Begun {
  session: SessionRow
  token: string
}

export interface Sessions {
  /**
   * `null` without a session or login. @throws InvalidAccess, and what the option `access` throws
   */
  identify: (request: FastifyRequest, token: string | undefined) => Promise<Identity | null>
  /** @throws KeyRefused, KeyNotEnough, AddressRefused, TooManyAttempts, NoKeySignIn */
  signIn: (key: string, request: FastifyRequest) => Promise<Begun>
  /** Exchanges the code of a portal link. @throws LinkUsed */
  follow: (code: string, request: FastifyRequest) => Promise<Begun>
  /** Resolves to the id as it is stored. @throws SessionNotFound where no such session is within the reach */
  end: (id: string, reach: Reach, by: AuditOrigin) => Promise<string>
}

export const consoleOrigin = (
  { keyId, userId }: Pick<Identity, 'keyId' | 'userId'>,
  request: FastifyRequest,
): AuditOrigin => ({
  actor: { kind: 'console', keyId, userId },
  requestId: String(request.id),
  ip: request.ip ?? null,
})

export function createSessions(core: Core, settings: ConsoleSettings): Sessions {
  const { access, scopes, signInWithKey } = settings
  /** `undefined` where the host has no `@svc/auth`. */
  const auth = () => (core.svc as Partial<typeof core.svc>).auth

  /** It is salted with the token, so that nothing in the table can be used to test guessed keys. */
  const sealOf = async (token: string) => (await auth()?.sealBootstrapKey(token)) ?? null

  async function begin(
    request: FastifyRequest,
    who: Pick<NewSession, 'via' | 'keyId' | 'userId' | 'tenant' | 'rights' | 'until'>,
    prove: (db: Parameters<typeof insertSession>[0]) => Promise<typeof who> = async () => who,
  ): Promise<Begun> {
    const token = newToken()
    const bootstrapSeal = isOfBootstrapKey(who) ? await sealOf(token) : null
    const session = await core.within(undefined, async (db) => {
      const proved = await prove(db)
      const made = await insertSession(db, {
        ...proved,
        bootstrapSeal,
        id: uuidv7(),
        tokenHash: hashOfToken(token),
        ip: request.ip ?? null,
        forSeconds: EIGHT_HOURS,
      })
      await insertAudit(db, consoleOrigin(made, request), [recordOf('session.create', made)])
      return made
    })
    return { session, token }
  }

  /** The current rights of a session's key. If the key has ended, the session ends. */
  async function keyIdentity(
    session: SessionRow,
    token: string,
    request: FastifyRequest,
  ): Promise<Identity | null> {
    const operations = auth()
    if (!operations || !signInWithKey) return null
    if (session.keyId === null) {
      const seal = await sealOf(token)
      if (seal !== null && seal === session.bootstrapSeal) return identityOfKey(session, BOOTSTRAP)
      await deleteSession(core.requestDb, session.id)
      return null
    }
    const key = await operations.checkApiKey({ id: session.keyId, ip: request.ip })
    if (key.valid) return identityOfKey(session, key)
    if (key.keyId === null) await deleteSession(core.requestDb, session.id)
    return null
  }

  async function sessionIdentity(token: string, request: FastifyRequest) {
    const session = await findSession(core.requestDb, hashOfToken(token))
    if (!session) return null
    return session.via === 'portal'
      ? identityOfPortal(session, scopes)
      : await keyIdentity(session, token, request)
  }

  return {
    async identify(request, token) {
      const identity =
        token !== undefined && isToken(token) ? await sessionIdentity(token, request) : null
      if (identity) return identity
      const found = await access?.(request)
      return found ? identityOfAccess(found, scopes) : null
    },

    async signIn(key, request) {
      const operations = auth()
      if (!operations || !signInWithKey) throw new NoKeySignIn()
      const verified = await operations.verifyApiKey({
        key,
        ip: request.ip,
        scopes: [...SIGN_IN_SCOPES],
        cost: 0,
      })
      if (!verified.valid) throw refusalOf(verified.code)
      const { keyId, userId, tenant, expiresAt: until } = verified
      return await begin(request, { via: 'key', keyId, userId, tenant, rights: null, until })
    },

    async follow(code, request) {
      if (!isToken(code)) throw new LinkUsed()
      const nobody = { keyId: null, userId: null, tenant: null, rights: [], until: null }
      return await begin(request, { via: 'portal', ...nobody }, async (db) => {
        const found = await takePortalCode(db, hashOfToken(code))
        if (!found) throw new LinkUsed()
        return { ...nobody, ...found, via: 'portal' }
      })
    },

    async end(id, reach, by) {
      if (!isUuid(id)) throw new SessionNotFound()
      return await core.within(undefined, async (db) => {
        const ended = await deleteSession(db, id, reach)
        if (!ended) throw new SessionNotFound()
        await insertAudit(db, by, [recordOf('session.end', ended)])
        return ended.id
      })
    },
  }
}

const isOfBootstrapKey = ({ via, keyId }: Pick<NewSession, 'via' | 'keyId'>): boolean =>
  via === 'key' && keyId === null

const recordOf = (action: string, { id, tenant, via }: SessionRow) => {
  const isBegun = action === 'session.create'
  const changes = { via: { from: isBegun ? null : via, to: isBegun ? via : null } }
  return { action, tenant, target: { kind: 'session', id } as const, changes }
}
