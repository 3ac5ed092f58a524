import type { Webhook } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { call } from '../server/call.ts'
import { useQuery } from '../state/use-query.ts'

const MOST = 200

export const webhookName = ({ label, url }: Webhook): string =>
  label ?? url.replace(/^https?:\/\//, '')

/** The newest webhooks, for their names; `whole` where that is all of them. */
export function useWebhooks() {
  const { session, may } = useSession()
  const readable = session.features.webhooks && may('webhooks:read')
  const { data } = useQuery(readable ? 'webhooks' : null, (signal) =>
    call('webhooks.list', { limit: MOST }, signal),
  )
  const items = data?.items ?? []
  return {
    items,
    whole: data?.next === null,
    find: (id: string) => items.find((one) => one.id === id),
  }
}
