import { Type } from '@sinclair/typebox'
import { narrowedReach, TenantFilter } from '@svc/core/internal'
import { assertMayProbePayloads, hiddenPrefix, maySeeEvent } from '../access/payload-access.ts'
import { EventNotFound } from '../errors.ts'
import { List, Nothing, type CallsOf } from './call.ts'
import { withoutPayload } from './deliveries.ts'

const MOST_ATTEMPTS = 200
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

export const eventCalls: CallsOf<'catalogue' | 'events'> = {
  'catalogue.list': {
    right: 'events:read',
    // Whoever makes webhooks chooses from it.
    orRight: 'webhooks:read',
    changes: false,
    needs: 'webhooks',
    input: Nothing,
    run: async (_, { webhooks }) => ({ items: await webhooks.listEvents() }),
  },
  'events.list': {
    right: 'events:read',
    changes: false,
    needs: 'webhooks',
    input: List,
    async run({ tenant: asked, ...query }, { core, identity, masks }) {
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
  },
  'events.get': {
    right: 'events:read',
    changes: false,
    needs: 'webhooks',
    input: OneEvent,
    async run({ name, id, tenant: asked }, { core, identity, masks, webhooks }) {
      const reach = narrowedReach(identity.tenant, asked)
      const tenant = reach === '' ? null : reach
      const isHidden = tenant === undefined || !maySeeEvent(identity, name)
      const event = isHidden ? null : await core.svc.events.find(name, id, { tenant })
      if (event === null) throw new EventNotFound()
      const since = new Date(Date.parse(event.publishedAt) - CLOCKS_DIFFER_MS).toISOString()
      const filter = { event: name, eventId: id, since, payloads: false, limit: MOST_ATTEMPTS }
      const found = identity.rights.includes('deliveries:read')
        ? await webhooks.listDeliveries(filter)
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
  },
}
