/**
 * The id of an event as it is stored: the id that a publish gives is its tenant's own, and the key
 * of the table is name and id. Tenant and id are separated by U+001F, which no tenant contains.
 */
const SEPARATOR = '\u001F'

export const storedEventId = (tenant: string | null, id: string): string =>
  tenant === null && !id.includes(SEPARATOR) ? id : `${tenant ?? ''}${SEPARATOR}${id}`

export const publishedEventId = (storedId: string): string =>
  storedId.slice(storedId.indexOf(SEPARATOR) + 1)

export function tenantOfEvent(storedId: string): string | null {
  const end = storedId.indexOf(SEPARATOR)
  return end > 0 ? storedId.slice(0, end) : null
}

/** The stored ids of a tenant's events: all that begin with `from`, and none below it or from `to` on. */
export const idsOfTenant = (tenant: string): { from: string; to: string } => ({
  from: `${tenant}${SEPARATOR}`,
  to: `${tenant} `,
})
