/** The operations on events: which there are, and which of them a filter matches. */
import { Type } from '@sinclair/typebox'
import {
  Anything,
  compileFilterMatch,
  DeferredFilters,
  EVERY_EVENT,
  isEventPattern,
  isMeantBy,
  shapeOf,
  subjectOf,
  tenantOfNew,
  type Core,
} from '@svc/core/internal'
import { EventNotAllowed } from '../errors.ts'
import { descriptionOf, type DescribedEvent } from '../outbound/described-event.ts'
import { EventDescription, FilterTrial, type TriedEvent } from '../schemas.ts'
import { operation } from '../caller.ts'
import { namesOf } from './webhooks.ts'

const MOST = 50

export const eventOperations = (
  { svc }: Pick<Core, 'svc'>,
  events: readonly DescribedEvent[],
  filters = new DeferredFilters(),
) => ({
  listEvents: operation({
    input: Anything,
    output: Type.Array(EventDescription),
    routes: {
      'GET /events': {
        summary: 'List the events that webhooks may ask for, with their schemas and examples',
      },
    },
    run: async () => events.map(descriptionOf),
  }),

  /**
   * Nothing is delivered. A webhook of the operator is sent the events of all tenants, that of a tenant the
   * tenant's.
   */
  tryFilter: operation({
    input: FilterTrial,
    output: shapeOf<TriedEvent[]>(),
    async run({ reach }, { filter, events: given, tenant: named }) {
      const wanted = new Set(namesOf(given))
      const match = compileFilterMatch(filter ?? {})
      const allowed = events.map(({ name }) => name)
      const unknown = [...wanted].find((name) => !isEventPattern(name) && !allowed.includes(name))
      if (unknown !== undefined) {
        throw new EventNotAllowed(unknown, [EVERY_EVENT, ...allowed].join(', '))
      }
      const names = allowed.filter((name) => isMeantBy(wanted, name))
      if (names.length === 0) return []
      const tenant = tenantOfNew(reach, named)
      const { items } = await svc.events.search({
        name: names,
        ...(tenant !== null && { tenant }),
        limit: MOST,
        payloads: true,
      })
      const tried = items.map(async ({ payload, changed, ...event }) => {
        const subject = subjectOf(event.name, event.tenant, payload, changed)
        const { isMatch } = await filters.decide(match, () => subject)
        return { ...event, matches: isMatch === true }
      })
      return Promise.all(tried)
    },
  }),
})
