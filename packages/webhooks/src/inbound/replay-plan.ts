/** What a replay of a logged request publishes. */
import { isEventName } from '@svc/core/internal'
import type { ListedRow } from '../tables/inbound-log.ts'
import { bodyText } from './body-text.ts'
import { payloadOf } from './payload.ts'
import { rebuilt, type Host } from './rebuilt-request.ts'
import type { Source } from './sources.ts'
import { itemsOf, namesIn, planOf, type ToPublish } from './events-of-request.ts'

export interface ReplayPlan {
  tenant: string | null
  events: Pick<ToPublish, 'name' | 'json'>[]
}

/**
 * What was to be published when the request came. If the request failed before that was known, the
 * row does not say, and the functions of the source are called again.
 */
export function replayPlanOf(row: ListedRow, source: Source, host: Host): ReplayPlan {
  const request = rebuilt(row, source.path, host)
  const text = bodyText(request, source.readAs)
  const json = payloadOf(request, text, source.readAs)
  const events = eventsOf(row, source, json)
  if (events) return { tenant: row.tenant, events }
  const plan = planOf(source, request, text, json)
  // The tenant of a request that failed may not have been known.
  const tenant = row.outcome === 'failed' ? (row.tenant ?? plan.tenant) : row.tenant
  return { tenant, events: plan.events }
}

/** The events by their stored names; `undefined` where these are missing or do not fit. */
function eventsOf(
  { eventNames }: ListedRow,
  source: Source,
  json: string,
): ReplayPlan['events'] | undefined {
  if (eventNames === null) return undefined
  const items = itemsOf(source, json)
  const payloads = items?.map((item) => JSON.stringify(item ?? null)) ?? [json]
  const names = namesIn(eventNames, payloads.length)
  // Some requests failed because of a wrong name, which the host may have corrected since.
  if (!names?.every((name) => name === null || isPublishable(name))) return undefined
  return payloads.flatMap((payload, place) => {
    const name = names[place] ?? null
    return name === null ? [] : [{ name, json: payload }]
  })
}

const isPublishable = (name: unknown): boolean =>
  isEventName(name) && !String(name).startsWith('svc.')
