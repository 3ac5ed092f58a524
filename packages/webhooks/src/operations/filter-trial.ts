/** A filter tried on events that were published lately: nothing is delivered. */
import { compileFilterMatch, DeferredFilters, tenantOfNew, type Core } from '@svc/core/internal'
import { EventNotAllowed } from '../errors.ts'
import type { DescribedEvent } from '../outbound/described-event.ts'
import type { FilterTrial, TriedEvent } from '../schemas.ts'
import type { Caller } from './caller.ts'
import { namesOf } from './webhooks.ts'

const MOST = 50

export type TryFilter = (trial: FilterTrial, by: Caller) => Promise<TriedEvent[]>

/** A webhook of the operator is sent the events of all tenants, that of a tenant the tenant's. */
export const createTryFilter =
  (
    { svc }: Pick<Core, 'svc'>,
    events: readonly DescribedEvent[],
    filters = new DeferredFilters(),
  ): TryFilter =>
  async ({ filter, events: given, tenant: named }, { reach }) => {
    const names = namesOf(given)
    const match = compileFilterMatch(filter ?? {})
    const allowed = events.map(({ name }) => name)
    const unknown = names.find((name) => name !== '*' && !allowed.includes(name))
    if (unknown !== undefined) throw new EventNotAllowed(unknown, ['*', ...allowed].join(', '))
    const tenant = tenantOfNew(reach, named)
    const { items } = await svc.events.search({
      name: names.includes('*') ? allowed : names,
      ...(tenant !== null && { tenant }),
      limit: MOST,
      payloads: true,
    })
    const tried = items.map(async ({ payload, ...event }) => {
      const subject = { event: event.name, tenant: event.tenant, payload }
      const { isMatch } = await filters.decide(match, () => subject)
      return { ...event, matches: isMatch === true }
    })
    return Promise.all(tried)
  }
