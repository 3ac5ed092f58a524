/** Names that many screens show. They are kept from one screen to the next. */
import { useQuery } from '@tanstack/preact-query'
import { call } from '../server/call.ts'
import type { Webhook } from '../server/contract.ts'
import { useSession } from '../shell/session.ts'
import { queries, useCall } from './queries.ts'

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
  const { data, problem } = useCall('webhooks.list', useReadable() ? { limit: MOST } : null, KEPT)
  const items = data?.items ?? []
  return {
    items,
    problem,
    /** `undefined` until it is known. */
    whole: data && data.next === null,
  }
}

/** Asked for in the same moment, they are read together. */
let asked: { id: string; tell: (webhook: Webhook | null) => void }[] = []

/** One of the rows of a list. */
function readWebhook(id: string): Promise<Webhook | null> {
  if (asked.length === 0) setTimeout(() => void readAsked())
  return new Promise((tell) => asked.push({ id, tell }))
}

async function readAsked(): Promise<void> {
  const all = asked
  asked = []
  for (let at = 0; at < all.length; at += MOST) {
    const some = all.slice(at, at + MOST)
    const ids = [...new Set(some.map(({ id }) => id))]
    // Without its name a row has its id.
    const { items } = await call('webhooks.list', { ids, limit: MOST }).catch(() => ({
      items: [] as Webhook[],
    }))
    for (const { id, tell } of some) tell(items.find((one) => one.id === id) ?? null)
  }
}

/** A webhook for its name: of the newest, or read with the others that are shown. */
export function useWebhook(id: string): Webhook | undefined {
  const { items, whole } = useWebhooks()
  const known = items.find((one) => one.id === id)
  const isAsked = useReadable() && known === undefined && whole === false && id !== ''
  const { data } = useQuery(
    { ...KEPT, queryKey: ['webhooks.name', id], queryFn: () => readWebhook(id), enabled: isAsked },
    queries,
  )
  return known ?? data ?? undefined
}

const SUGGESTED = 20

const HAS_WORD = /[\p{L}\p{N}]/u
const MOST_SEARCHED = 200

/** A text that lists are searched for by name: they ask for a letter or a digit. */
export const searchOf = (typed: string): string | undefined =>
  HAS_WORD.test(typed) ? typed.trim().slice(0, MOST_SEARCHED) : undefined

/** Why the server would refuse to search for it. */
export function searchProblem(typed: string): string | undefined {
  if (typed !== '' && !HAS_WORD.test(typed)) return 'Type a letter or a digit.'
  return Array.from(typed).length > MOST_SEARCHED
    ? `At most ${MOST_SEARCHED} characters.`
    : undefined
}

/** Webhooks whose name or address has words that begin so: the newest where nothing is typed. */
export function useFoundWebhooks(typed: string): readonly Webhook[] {
  const search = searchOf(typed)
  const { data } = useCall(
    'webhooks.list',
    useReadable() ? { limit: SUGGESTED, ...(search && { search }) } : null,
    KEPT,
  )
  return data?.items ?? []
}

/** Tenants in whose name a word begins so. None where the session does not see the list. */
export function useTenants(typed: string): readonly string[] {
  const { may } = useSession()
  const search = searchOf(typed)
  const { data } = useCall(
    'tenants.list',
    may('tenants:read') ? { limit: SUGGESTED, ...(search && { search }) } : null,
    KEPT,
  )
  return (data?.items ?? []).map(({ tenant }) => tenant)
}

/** The events that webhooks may subscribe to. */
export function useCatalogue() {
  const answer = useCall('catalogue.list', useReadable() ? {} : null, KEPT)
  return { ...answer, names: (answer.data?.items ?? []).map(({ name }) => name) }
}

/** The sources of the newest requests, with what came of theirs. */
export function useSources() {
  const { session, may } = useSession()
  const isOpen = session.features.webhooks && may('inbound:read')
  const { data, loading } = useCall('inbound.sources', isOpen ? {} : null)
  return { sources: data?.items ?? [], loading }
}
