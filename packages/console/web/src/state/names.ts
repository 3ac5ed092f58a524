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

export const webhookName = ({ label, url }: Webhook): string =>
  label ?? url?.replace(/^https?:\/\//, '') ?? 'no address'

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

/** The events that webhooks may subscribe to. */
export function useCatalogue() {
  const answer = useCall('catalogue.list', useReadable() ? {} : null, KEPT)
  return { ...answer, names: (answer.data?.items ?? []).map(({ name }) => name) }
}
