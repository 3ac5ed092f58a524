/** The subscription through which published events fan out to webhooks. */
export const SUBSCRIPTION = '__svc.webhooks'

/** One job is one delivery to one webhook; the webhook's id is its recipient. */
export const QUEUE = '__svc.webhooks.deliver'

/** The event of a test delivery. */
export const TEST_EVENT = 'webhook.test'
