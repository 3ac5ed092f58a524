/** `svc.console`: links by which a tenant comes into its portal. */
import { InvalidInput } from '@svc/core'
import { isTenant, orUnavailable, TENANT, type Core, type Db } from '@svc/core/internal'
import { EXPECTED_CAN, isCan, PORTAL_RIGHTS, rightsOf, type Can } from '../rights.ts'
import { insertPortalCode } from '../tables/portal-codes.ts'
import { hashOfToken, newToken } from './token.ts'

/** What a link into the portal allows, to whom, and for how long. */
export interface PortalLink {
  tenant: string
  /**
   * What the tenant may do. @default its webhooks, their deliveries and the catalogue
   */
  can?: Can
  /** The host's id of the person, for the audit. @default null */
  userId?: string | null
  /** How long the link may be followed: 1 to 604800. @default 600 */
  expiresInSeconds?: number
}

/** `svc.console`. */
export interface SvcConsole {
  /**
   * A link that signs a tenant in, once: the session that it begins lasts 8 hours. It is a URL where
   * the option `origin` is given, else a path.
   *
   * @throws InvalidInput, Unavailable
   * @example
   * const link = await app.svc.console.portalLink({ tenant: 'acme' })
   */
  portalLink: (link: PortalLink) => Promise<string>
}

declare module '@svc/core' {
  interface Svc {
    /** Links into the portal of `@svc/console`. */
    console: SvcConsole
  }
}

const TEN_MINUTES = 600
const WEEK = 7 * 24 * 3600
const FIELDS = ['tenant', 'can', 'userId', 'expiresInSeconds']

/** Makes a link, and returns its text. */
export type LinkMaker = (db: Db, link: ReturnType<typeof checkedLink>) => Promise<string>

/** `base`: what a link begins with. */
export const createLinkMaker =
  (base: string): LinkMaker =>
  async (db, { tenant, userId, rights, expiresInSeconds }) => {
    const code = newToken()
    await insertPortalCode(db, hashOfToken(code), { tenant, userId, rights }, expiresInSeconds)
    return `${base}/portal/${code}`
  }

export const createSvcConsole = ({ requestDb }: Core, makeLink: LinkMaker): SvcConsole => ({
  portalLink: async (link) => orUnavailable(makeLink(requestDb, checkedLink(link))),
})

/** @throws InvalidInput */
export function checkedLink(link: PortalLink) {
  const unknown = Object.keys(link ?? {}).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined) {
    throw new InvalidInput(`portalLink: there is no field "${unknown}"; there are: ${FIELDS}`)
  }
  const { tenant, can = PORTAL_RIGHTS, userId = null, expiresInSeconds = TEN_MINUTES } = link ?? {}
  if (!isTenant(tenant)) throw new InvalidInput(`portalLink: tenant must be ${TENANT}`)
  if (!isCan(can)) throw new InvalidInput(`portalLink: can must be ${EXPECTED_CAN}`)
  if (userId !== null && (typeof userId !== 'string' || userId.length > 200)) {
    throw new InvalidInput('portalLink: userId must be a text of at most 200 characters, or null')
  }
  const isTime = Number.isInteger(expiresInSeconds) && expiresInSeconds >= 1
  if (!isTime || expiresInSeconds > WEEK) {
    throw new InvalidInput(`portalLink: expiresInSeconds must be a whole number, 1 to ${WEEK}`)
  }
  return { tenant, userId, rights: rightsOf(can, tenant), expiresInSeconds }
}
