/** A filter tried on events that were published lately: nothing is delivered. */
import { compileFilter, tenantOfNew, type Core } from '@svc/core/internal'
import { EventNotAllowed } from '../errors.ts'
import type { DescribedEvent } from '../outbound/described-event.ts'
import type { FilterTrial, TriedEvent } from '../schemas.ts'
import type { Caller } from './caller.ts'

const MOST = 50

export type TryFilter = (trial: FilterTrial, by: Caller) => Promise<TriedEvent[]>

/** A webhook of the operator is sent the events of all tenants, that of a tenant the tenant's. */
export const createTryFilter =
  ({ svc }: Pick<Core, 'svc'>, events: readonly DescribedEvent[]): TryFilter =>
  async ({ filter, events: names, tenant: named }, { reach }) => {
    const matches = filter ? compileFilter(filter) : () => true
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
    return items.map(({ payload, ...event }) => ({
      ...event,
      matches: matches({ event: event.name, tenant: event.tenant, payload }),
    }))
  }
