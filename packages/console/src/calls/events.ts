import { Type, type Static } from '@sinclair/typebox'
import { narrowedReach, TenantFilter } from '@svc/core/internal'
import { assertMayProbePayloads, hiddenPrefix, maySeeEvent } from '../access/payload-access.ts'
import { EventNotFound } from '../errors.ts'
import type { EventQuery } from '../contract/webhooks.ts'
import { callsOf, List, Nothing } from './call.ts'
import { withoutPayload } from './deliveries.ts'

const { reads } = callsOf('webhooks')

const MOST_DELIVERIES = 200
/** Of processes and Postgres. */
const CLOCKS_DIFFER_MS = 2 * 24 * 3600 * 1000

const OneEvent = Type.Object(
  {
    name: Type.String({ maxLength: 200 }),
    id: Type.String({ maxLength: 255 }),
    tenant: TenantFilter,
  },
  { additionalProperties: false },
)

export const eventCalls = {
  // The form of a webhook offers these names.
  'catalogue.list': reads(
    'events:read',
    Nothing,
    async (_: Nothing, { webhooks }) => ({ items: await webhooks.listEvents() }),
    'webhooks:read',
  ),
  /** `complete`: `false` where the search took long and ended before the page was full. */
  'events.list': reads(
    'events:read',
    List,
    async ({ tenant: asked, ...query }: EventQuery, { core, identity, masks }) => {
      if (query.text !== undefined) assertMayProbePayloads(identity, masks)
      const reach = narrowedReach(identity.tenant, asked)
      if (reach === undefined) return { items: [], next: null, complete: true }
      const except = hiddenPrefix(identity)
      const { items, next, complete } = await core.svc.events.search({
        ...query,
        ...(reach !== null && { tenant: reach }),
        ...(except !== undefined && { except }),
        payloads: masks.areOn && query.text !== undefined,
      })
      const found = items.filter((item) => masks.showsText(item, query.text))
      return { items: found.map(({ payload: _, ...item }) => item), next, complete }
    },
  ),
  'events.get': reads(
    'events:read',
    OneEvent,
    async (
      { name, id, tenant: asked }: Static<typeof OneEvent>,
      { core, identity, masks, webhooks },
    ) => {
      const reach = narrowedReach(identity.tenant, asked)
      const tenant = reach === '' ? null : reach
      const isHidden = tenant === undefined || !maySeeEvent(identity, name)
      const event = isHidden ? null : await core.svc.events.find(name, id, { tenant })
      if (event === null) throw new EventNotFound()
      const since = new Date(Date.parse(event.publishedAt) - CLOCKS_DIFFER_MS).toISOString()
      const of = { event: name, eventId: id, since, payloads: false, latest: true }
      const found = identity.rights.includes('deliveries:read')
        ? (await webhooks.searchDeliveries({ ...of, limit: MOST_DELIVERIES })).items
        : []
      const shown = masks.of(event.payload, { event: name, tenant: event.tenant })
      // Another tenant may have an event of this name and id.
      const attempts = found.filter(({ eventTenant = null }) => eventTenant === event.tenant)
      return {
        ...event,
        payload: shown.payload,
        attempts: attempts.map((attempt) => shown.attempt(withoutPayload(attempt))),
      }
    },
  ),
}
