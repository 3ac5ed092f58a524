/** Sessions: how they begin and end, and who they are. */
import {
  BY_PROCESS,
  insertAudit,
  storedOrigin,
  isUuid,
  uuidv7,
  type AuditOrigin,
  type AuditRecord,
  type Core,
  type Db,
  type Reach,
} from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'
import type {} from '@svc/auth'
import {
  AddressRefused,
  KeyNotEnough,
  KeyRefused,
  LinkUsed,
  NoKeySignIn,
  NotSignedIn,
  SessionNotFound,
  TooManyAttempts,
} from '../errors.ts'
import type { ConsoleSettings } from '../options.ts'
import { rightsOfLinksBy, rightsOfScopes, SIGN_IN_SCOPES } from '../rights.ts'
import {
  deletePortalCode,
  deletePortalCodesOf,
  findPortalCode,
  type PortalCode,
} from '../tables/portal-codes.ts'
import {
  deleteSession,
  deleteSessionsOf,
  findSession,
  insertSession,
  type Login,
  type NewSession,
  type SessionRow,
} from '../tables/sessions.ts'
import {
  identityOfAccess,
  identityOfKey,
  identityOfPortal,
  type Identity,
  type SessionKey,
} from './identity.ts'
import { hashOfToken, isToken, newToken } from './token.ts'

const BOOTSTRAP: SessionKey = {
  tenant: null,
  scopes: ['admin'],
  managementScopes: ['admin'],
  isRestricted: false,
  expiresAt: null,
}

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
  /** Ends sessions and unused links, and resolves to their number. */
  endAll: (of: { tenant?: string; userId?: string }) => Promise<number>
  /** Stands for the bootstrap key in a table, as long as that key stays the same. */
  sealOf: (secret: string) => Promise<string | null>
}

export const consoleOrigin = (
  { keyId, userId }: Pick<Identity, 'keyId' | 'userId'>,
  request: FastifyRequest,
): AuditOrigin =>
  storedOrigin({ kind: 'console', keyId, userId }, String(request.id), request.ip ?? null)

/** The key that a session or link ends with: by its id, or the bootstrap key by its seal. */
interface Bond {
  keyId: string | null
  seal: string | null
  /** What the seal was computed with. */
  secret: string
}

type Beginning = Pick<
  NewSession,
  'via' | 'keyId' | 'userId' | 'tenant' | 'rights' | 'linkKeyId' | 'look' | 'until'
> & { isOfBootstrapKey: boolean }

export function createSessions(core: Core, settings: ConsoleSettings): Sessions {
  const { access, scopes, signInWithKey, sessionSeconds } = settings
  /** `undefined` where the host has no `@svc/auth`. */
  const auth = () => (core.svc as Partial<typeof core.svc>).auth

  /** It is salted, so that nothing in the table can be used to test guessed keys. */
  const sealOf = async (secret: string) => (await auth()?.sealBootstrapKey(secret)) ?? null

  /** @throws InvalidAccess, and what the option `access` throws */
  async function loginOf(request: FastifyRequest): Promise<Identity | null> {
    const found = await access?.(request)
    return found ? identityOfAccess(found, scopes) : null
  }

  async function begin(
    request: FastifyRequest,
    { isOfBootstrapKey, ...who }: Beginning,
    prove: (db: Db) => Promise<void> = async () => {},
  ): Promise<Begun> {
    const token = newToken()
    const bootstrapSeal = isOfBootstrapKey ? await sealOf(token) : null
    if (isOfBootstrapKey && bootstrapSeal === null) throw new NotSignedIn()
    const login = await loginOf(request)
    const session = await core.within(undefined, async (db) => {
      await prove(db)
      const made = await insertSession(db, {
        ...who,
        bootstrapSeal,
        login: login && { tenant: login.tenant, userId: login.userId },
        id: uuidv7(),
        tokenHash: hashOfToken(token),
        ip: request.ip ?? null,
        forSeconds: sessionSeconds,
      })
      await insertAudit(db, consoleOrigin(made, request), [recordOf('session.create', made)])
      return made
    })
    return { session, token }
  }

  /** What the key is now. `ended`: for good. `refused`: here, or from this address. */
  async function keyNow(
    { keyId, seal, secret }: Bond,
    { ip }: FastifyRequest,
  ): Promise<SessionKey | 'ended' | 'refused'> {
    const operations = auth()
    if (!operations) return 'refused'
    if (keyId === null)
      return seal !== null && seal === (await sealOf(secret)) ? BOOTSTRAP : 'ended'
    const key = await operations.checkApiKey({ id: keyId, ip })
    if (key.valid) return key
    return key.keyId === null ? 'ended' : 'refused'
  }

  /** The key that made a link: it must be able to make such a link now. */
  async function makerNow(
    { rights }: { rights: SessionRow['rights'] },
    bond: Bond,
    request: FastifyRequest,
  ): Promise<SessionKey | 'ended' | 'refused'> {
    const key = await keyNow(bond, request)
    if (typeof key === 'string') return key
    const given = rightsOfLinksBy(
      rightsOfScopes(key.managementScopes, key.tenant),
      key.isRestricted,
    )
    return (rights ?? []).every((right) => given.includes(right)) ? key : 'ended'
  }

  /** The current rights of a session. A session whose key has ended is deleted. */
  async function identityOf(
    session: SessionRow,
    secret: string,
    request: FastifyRequest,
  ): Promise<Identity | null> {
    const { bootstrapSeal: seal, linkKeyId } = session
    const isPortal = session.via === 'portal'
    if (isPortal && linkKeyId === null && seal === null) return identityOfPortal(session, scopes)
    if (!isPortal && !signInWithKey) return null
    const key = isPortal
      ? await makerNow(session, { keyId: linkKeyId, seal, secret }, request)
      : await keyNow({ keyId: session.keyId, seal, secret }, request)
    if (key === 'ended') await deleteSession(core.requestDb, session.id)
    if (typeof key === 'string') return null
    return isPortal ? identityOfPortal(session, scopes) : identityOfKey(session, key)
  }

  return {
    sealOf,

    async identify(request, token) {
      const login = await loginOf(request)
      const session =
        token !== undefined && isToken(token)
          ? await findSession(core.requestDb, hashOfToken(token))
          : undefined
      if (token === undefined || session === undefined) return login
      if (isOfLogin(session, login)) return (await identityOf(session, token, request)) ?? login
      // Somebody else is signed in now: the session must not come back when they leave.
      if (login !== null) await deleteSession(core.requestDb, session.id)
      return login
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
      const isOfBootstrapKey = keyId === null
      const who = {
        via: 'key',
        keyId,
        userId,
        tenant,
        rights: null,
        linkKeyId: null,
        look: null,
        until,
      } as const
      return await begin(request, { ...who, isOfBootstrapKey })
    },

    async follow(code, request) {
      const link = isToken(code) && (await findPortalCode(core.requestDb, hashOfToken(code)))
      if (!link) throw new LinkUsed()
      const { id, userId, tenant, rights, keyId, bootstrapSeal: seal, look } = link
      const isBound = keyId !== null || seal !== null
      const key = isBound ? await makerNow(link, { keyId, seal, secret: code }, request) : null
      if (key === 'ended') await deletePortalCode(core.requestDb, id)
      if (typeof key === 'string') throw new LinkUsed()
      const until = key?.expiresAt ?? null
      const who = {
        ...({ via: 'portal', keyId: null, userId, tenant, rights, look } as const),
        linkKeyId: keyId,
      }
      return await begin(
        request,
        { ...who, until, isOfBootstrapKey: seal !== null },
        async (db) => {
          if (!(await deletePortalCode(db, id))) throw new LinkUsed()
        },
      )
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

    endAll: (of) =>
      core.within(undefined, async (db) => {
        // The links first: this waits for those that are being followed, whose sessions are then seen.
        const links = await deletePortalCodesOf(db, of)
        const ended = await deleteSessionsOf(db, of)
        const records = [
          ...links.map((link) => revocationOf(link)),
          ...ended.map((session) => recordOf('session.end', session)),
        ]
        await insertAudit(db, BY_PROCESS, records)
        return records.length
      }),
  }
}

/**
 * Whether a session goes on for who is signed in by the login of the host now. One that began under a
 * login ends with it. One that began without a login is kept by its own person alone.
 */
function isOfLogin({ login: before, tenant, userId }: SessionRow, login: Login | null): boolean {
  if (login === null) return before === null
  return isSame(login, before ?? { tenant, userId })
}

const isSame = (one: Login, other: Login): boolean =>
  one.tenant === other.tenant && one.userId === other.userId

const recordOf = (action: string, { id, tenant, via }: SessionRow): AuditRecord => {
  const isBegun = action === 'session.create'
  const changes = { via: { from: isBegun ? null : via, to: isBegun ? via : null } }
  return { action, tenant, target: { kind: 'session', id }, changes }
}

export const revocationOf = ({ id, tenant }: PortalCode): AuditRecord => ({
  action: 'portal.revoke',
  tenant,
  target: { kind: 'link', id },
  changes: null,
})

/** The error of a sign-in with a key that the guard refuses. */
function refusalOf(code: string | null): Error {
  switch (code) {
    case 'SVC_AUTH_INSUFFICIENT_SCOPE':
      return new KeyNotEnough()
    case 'SVC_AUTH_IP_NOT_ALLOWED':
      return new AddressRefused()
    case 'SVC_AUTH_BLOCKED':
    case 'SVC_AUTH_RATE_LIMITED':
    case 'SVC_AUTH_QUOTA_EXCEEDED':
      return new TooManyAttempts()
    default:
      return new KeyRefused()
  }
}
