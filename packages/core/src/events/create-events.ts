/** `svc.events`: closures, so that destructuring works and nothing else of the bus is reachable. */
import type { Events } from './event-api.ts'
import type { EventBus } from './event-bus.ts'
import { checkedHostEventName, payloadText } from './validate-event.ts'

export const createEvents = (bus: EventBus): Events => ({
  publish: async (name, payload, options) =>
    bus.publishText(checkedHostEventName(name), payloadText(payload), options),
  subscribe: (name, handler, options) => bus.subscribe(name, handler, options),
  unsubscribe: (subscription) => bus.unsubscribe(subscription),
  ...bus.deadLetters,
})
