/** `svc.events`: closures, so that destructuring works and nothing else of the bus is reachable. */
import type { Db } from '../postgres/transaction.ts'
import { orUnavailable } from '../postgres/unavailable.ts'
import type { Events } from './event-api.ts'
import type { EventBus } from './event-bus.ts'
import { createEventSearch } from './event-search.ts'
import { checkedHostEventName, payloadText } from './validate-event.ts'

export const createEvents = (bus: EventBus, db: Db): Events => ({
  publish: async (name, payload, options) =>
    orUnavailable(bus.publishText(checkedHostEventName(name), payloadText(payload), options)),
  subscribe: (name, handler, options) => orUnavailable(bus.subscribe(name, handler, options)),
  unsubscribe: (subscription) => orUnavailable(bus.unsubscribe(subscription)),
  deadLetters: (...asked) => orUnavailable(bus.deadLetters.deadLetters(...asked)),
  redrive: (...asked) => orUnavailable(bus.deadLetters.redrive(...asked)),
  ...createEventSearch(db),
})
