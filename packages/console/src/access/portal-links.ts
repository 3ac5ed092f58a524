/** `svc.console`: links by which a tenant comes into its portal, and the end of sessions. */
import { InvalidInput } from '@svc/core'
import {
  BY_PROCESS,
  EVERYWHERE,
  insertAudit,
  isTenant,
  isUserId,
  USER_ID,
  isUuid,
  orUnavailable,
  TENANT,
  uuidv7,
  type AuditOrigin,
  type Core,
  type Db,
  type Reach,
} from '@svc/core/internal'
import { LinkNotFound, NotSignedIn } from '../errors.ts'
import { EXPECTED_CAN, isCan, PORTAL_RIGHTS, rightsOf, type Can, type Right } from '../rights.ts'
import {
  deletePortalCode,
  insertPortalCode,
  listPortalCodes,
  type PortalCode,
} from '../tables/portal-codes.ts'
import { revocationOf, type Sessions } from './sessions.ts'
import { hashOfToken, newToken } from './token.ts'

/** What a link into the portal allows, to whom, and for how long. */
export interface PortalLink {
  tenant: string
  /** What the tenant may do. @default to read and change webhooks and deliveries, and to read events */
  can?: Can | undefined
  /** The host's id of the person, for the audit. @default null */
  userId?: string | null | undefined
  /** How long the link may be followed: 1 to 604800. @default 600 */
  expiresInSeconds?: number | undefined
  /**
   * For a page of the host that shows it in an iframe: without navigation, header and sign-out of its own.
   *
   * @default false
   */
  embed?: boolean | undefined
  /** `auto`: that of the browser. @default 'auto' */
  colorScheme?: 'light' | 'dark' | 'auto' | undefined
}

const SCHEMES = ['light', 'dark', 'auto']
const FIELDS = ['tenant', 'can', 'userId', 'expiresInSeconds', 'embed', 'colorScheme']

/** A link that can still be used. Its text is not kept. */
export interface ListedLink {
  id: string
  tenant: string
  userId: string | null
  can: Right[]
  /** The key that made it on the page, with which it ends. `null`: the bootstrap key, or no key. */
  keyId: string | null
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601. */
  expiresAt: string
}

/** Whose sessions. */
export interface SessionsOf {
  tenant?: string | undefined
  /** The host's id of a person, or the id of a user of `@svc/auth`. */
  userId?: string | undefined
}

/** `svc.console`. */
export interface SvcConsole {
  /**
   * A link that signs a tenant in, once: the session that it begins lasts `sessionSeconds`. It is a URL
   * where the option `origin` is given, else a path.
   *
   * @throws InvalidInput, Unavailable
   * @example
   * const link = await app.svc.console.portalLink({ tenant: 'acme' })
   */
  portalLink: (link: PortalLink) => Promise<string>
  /**
   * Links that can still be used, newest first: of all tenants, or of one.
   *
   * @throws InvalidInput, Unavailable
   */
  listLinks: (filter?: Pick<SessionsOf, 'tenant'>) => Promise<ListedLink[]>
  /** Withdraws a link, by its id in `listLinks`. @throws LinkNotFound, Unavailable */
  revokeLink: (id: string) => Promise<void>
  /**
   * Ends the sessions of a tenant, of a person (the host's id, or that of the user of a key), or of a
   * person in a tenant, and withdraws their links that were not used: in every process, within a
   * second. For a logout, or for someone who has left. The login of the host goes on.
   *
   * @returns how many sessions and links it ended
   * @throws InvalidInput without a tenant and a userId; Unavailable
   * @example
   * await app.svc.console.endSessions({ tenant: 'acme', userId: 'ada' })
   */
  endSessions: (of: SessionsOf) => Promise<{ ended: number }>
}

declare module '@svc/core' {
  interface Svc {
    /** The portal of `@svc/console`: its links and its sessions. */
    console: SvcConsole
  }
}

const TEN_MINUTES = 600
const WEEK = 7 * 24 * 3600

/** The key that makes a link, with which the link ends. */
export interface LinkMakerKey {
  keyId: string | null
  isBootstrapKey: boolean
  expiresAt: string | null
}

const NO_KEY: LinkMakerKey = { keyId: null, isBootstrapKey: false, expiresAt: null }

/** A link, and its text. */
export type MadeLink = PortalCode & { link: string }

export interface Links {
  make: (db: Db, link: ReturnType<typeof checkedLink>, by: LinkMakerKey) => Promise<MadeLink>
  /** @throws LinkNotFound where no such link is within the reach */
  revoke: (id: string, reach: Reach, by: AuditOrigin) => Promise<void>
}

/** `base`: what a link begins with. */
export const createLinks = (core: Core, { sealOf }: Sessions, base: string): Links => ({
  async make(
    db,
    { tenant, userId, rights, expiresInSeconds, look },
    { keyId, isBootstrapKey, expiresAt },
  ) {
    const code = newToken()
    const bootstrapSeal = isBootstrapKey ? await sealOf(code) : null
    if (isBootstrapKey && bootstrapSeal === null) throw new NotSignedIn()
    const made = await insertPortalCode(db, {
      id: uuidv7(),
      codeHash: hashOfToken(code),
      tenant,
      userId,
      rights,
      keyId,
      bootstrapSeal,
      look,
      forSeconds: expiresInSeconds,
      until: expiresAt,
    })
    return { ...made, link: `${base}/portal/${code}` }
  },

  revoke: (id, reach, by) =>
    core.within(undefined, async (db) => {
      const revoked = isUuid(id) ? await deletePortalCode(db, id, reach) : undefined
      if (!revoked) throw new LinkNotFound()
      await insertAudit(db, by, [revocationOf(revoked)])
    }),
})

export const shownLink = ({
  rights,
  bootstrapSeal: _,
  look: _look,
  ...link
}: PortalCode): ListedLink => ({
  ...link,
  can: rights,
})

export const createSvcConsole = (
  { requestDb }: Core,
  links: Links,
  { endAll }: Sessions,
  ended: () => void,
): SvcConsole => ({
  portalLink: async (link) => {
    const checked = checkedLink(link)
    return (await orUnavailable(links.make(requestDb, checked, NO_KEY))).link
  },
  async listLinks(filter = {}) {
    const { tenant } = checkedOf('listLinks', filter, ['tenant'])
    const all = { limit: undefined }
    const found = await orUnavailable(listPortalCodes(requestDb, tenant ?? EVERYWHERE, all))
    return found.map(shownLink)
  },
  revokeLink: async (id) => orUnavailable(links.revoke(id, EVERYWHERE, BY_PROCESS)),
  async endSessions(given) {
    const of = checkedOf('endSessions', given, ['tenant', 'userId'])
    if (of.tenant === undefined && of.userId === undefined) {
      throw new InvalidInput('endSessions: give a tenant, a userId, or both')
    }
    const count = await orUnavailable(endAll(of))
    ended()
    return { ended: count }
  },
})

/** @throws InvalidInput */
function assertFields(name: string, given: object, fields: readonly string[]): void {
  const unknown = Object.keys(given).find((field) => !fields.includes(field))
  if (unknown === undefined) return
  throw new InvalidInput(`${name}: there is no field "${unknown}"; there are: ${fields.join(', ')}`)
}

/** @throws InvalidInput */
function checkedOf(
  name: string,
  given: SessionsOf,
  fields: readonly string[],
): { tenant?: string; userId?: string } {
  const of = given ?? {}
  assertFields(name, of, fields)
  const { tenant, userId } = of
  if (tenant !== undefined && !isTenant(tenant)) {
    throw new InvalidInput(`${name}: tenant must be ${TENANT}`)
  }
  if (userId !== undefined && (userId === null || !isUserId(userId))) {
    throw new InvalidInput(`${name}: userId must be ${USER_ID}`)
  }
  return { ...(tenant !== undefined && { tenant }), ...(userId !== undefined && { userId }) }
}

/** @throws InvalidInput */
export function checkedLink(link: PortalLink) {
  assertFields('portalLink', link ?? {}, FIELDS)
  const { tenant, can = PORTAL_RIGHTS, userId = null, expiresInSeconds = TEN_MINUTES } = link ?? {}
  const { embed = false, colorScheme = 'auto' } = link ?? {}
  if (typeof embed !== 'boolean') {
    throw new InvalidInput('portalLink: embed must be true or false')
  }
  if (!SCHEMES.includes(colorScheme)) {
    throw new InvalidInput("portalLink: colorScheme must be 'light', 'dark' or 'auto'")
  }
  if (!isTenant(tenant)) throw new InvalidInput(`portalLink: tenant must be ${TENANT}`)
  if (!isCan(can)) throw new InvalidInput(`portalLink: can must be ${EXPECTED_CAN}`)
  if (!isUserId(userId)) throw new InvalidInput(`portalLink: userId must be ${USER_ID}, or null`)
  const isTime = Number.isInteger(expiresInSeconds) && expiresInSeconds >= 1
  if (!isTime || expiresInSeconds > WEEK) {
    throw new InvalidInput(`portalLink: expiresInSeconds must be a whole number, 1 to ${WEEK}`)
  }
  return {
    tenant,
    userId,
    rights: rightsOf(can, tenant),
    expiresInSeconds,
    look: { embed, colorScheme },
  }
}
