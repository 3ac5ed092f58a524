/** Names that many screens show. They are kept from one screen to the next. */
import type { Webhook } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { useCall } from './queries.ts'

const KEPT = { gcTime: 300_000, staleTime: 30_000 }
const MOST = 200

function useReadable(): boolean {
  const { session, may } = useSession()
  return session.features.webhooks && may('webhooks:read')
}

export const webhookName = ({ label, url }: Pick<Webhook, 'label' | 'url'>): string =>
  label ?? (url === null ? 'no address' : shortUrl(url))

const MOST_OF_URL = 60
/** Without its scheme. Of a long one the host and the end. */
function shortUrl(url: string): string {
  const text = url.replace(/^https?:\/\//, '')
  if (text.length <= MOST_OF_URL) return text
  const [host = ''] = text.split(/[/?]/)
  return `${host.slice(0, MOST_OF_URL)}/…${text.slice(-12)}`
}

/** The newest webhooks, for their names; `whole` where that is all of them. */
export function useWebhooks() {
  const { data } = useCall('webhooks.list', useReadable() ? { limit: MOST } : null, KEPT)
  const items = data?.items ?? []
  return {
    items,
    whole: data?.next === null,
    find: (id: string) => items.find((one) => one.id === id),
  }
}

const SUGGESTED = 20
/** Tenants whose name begins so. None where the session does not see the list. */
export function useTenants(start: string): readonly string[] {
  const { may } = useSession()
  const wanted = start.trim()
  const { data } = useCall(
    'tenants.list',
    may('tenants:read') ? { limit: SUGGESTED, ...(wanted && { after: justBefore(wanted) }) } : null,
    KEPT,
  )
  const names = (data?.items ?? []).map(({ tenant }) => tenant)
  return names.filter((name) => name.startsWith(wanted))
}

/** A text that all names which begin so follow, and nothing else before them: names are ASCII. */
export const justBefore = (start: string): string =>
  `${start.slice(0, -1)}${String.fromCharCode(start.charCodeAt(start.length - 1) - 1)}~`.slice(
    0,
    64,
  )

/** The events that webhooks may subscribe to. */
export function useCatalogue() {
  const answer = useCall('catalogue.list', useReadable() ? {} : null, KEPT)
  return { ...answer, names: (answer.data?.items ?? []).map(({ name }) => name) }
}
