import { useSession } from '../shell/session.ts'
import { call } from '../server/call.ts'
import { useQuery } from '../state/use-query.ts'

/** The events that webhooks may subscribe to. */
export function useCatalogue() {
  const { session, may } = useSession()
  const readable = session.features.webhooks && may('webhooks:read')
  const query = useQuery(readable ? 'catalogue' : null, (signal) =>
    call('catalogue.list', {}, signal),
  )
  return { ...query, names: (query.data?.items ?? []).map(({ name }) => name) }
}
