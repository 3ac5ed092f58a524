/** All operations of the console: what each is called, which right it needs, whether it changes anything. */
import { deliveryCalls } from './deliveries.ts'
import { eventCalls } from './events.ts'
import { handlerCalls } from './handlers.ts'
import { inboundCalls } from './inbound.ts'
import { keyCalls } from './keys.ts'
import { operatorCalls } from './operators.ts'
import { portalCalls } from './portal.ts'
import { userCalls } from './users.ts'
import { webhookCalls } from './webhooks.ts'

export const CALLS = {
  ...webhookCalls,
  ...deliveryCalls,
  ...eventCalls,
  ...inboundCalls,
  ...handlerCalls,
  ...userCalls,
  ...keyCalls,
  ...operatorCalls,
  ...portalCalls,
}
