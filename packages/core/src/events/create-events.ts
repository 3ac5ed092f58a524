/** `svc.events`: closures, so that destructuring works and nothing else of the bus is reachable. */
import type { Db } from '../postgres/transaction.ts'
import { orDatabaseError } from '../postgres/unavailable.ts'
import type { Events } from './event-api.ts'
import type { EventBus } from './event-bus.ts'
import { createEventSearch } from './event-search.ts'
import { checkedHostEventName, payloadText } from './validate-event.ts'

export const createEvents = (bus: EventBus, db: Db): Events => ({
  publish: async (name, payload, options) =>
    orDatabaseError(
      bus.publishText(checkedHostEventName(name), payloadText(payload), options),
      options?.db,
    ),
  subscribe: (name, handler, options) => orDatabaseError(bus.subscribe(name, handler, options)),
  unsubscribe: (subscription) => orDatabaseError(bus.unsubscribe(subscription)),
  deadLetters: (...asked) => orDatabaseError(bus.deadLetters.deadLetters(...asked)),
  redrive: (...asked) => orDatabaseError(bus.deadLetters.redrive(...asked)),
  ...createEventSearch(db),
})
