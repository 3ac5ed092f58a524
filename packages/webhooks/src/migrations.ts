/** What commands do with what this package keeps in the database: tables, partitions of the delivery log, a queue. */
import { packageFolder, type Core } from '@svc/core/internal'
import { QUEUE } from './outbound/delivery-queue.ts'
import { makeLogDays } from './tables/delivery-log-days.ts'

export { findFailingWebhooks } from './tables/webhook-health.ts'

const FOLDER = new URL('sql/', packageFolder('@svc/webhooks', import.meta.url))

/** Creates the tables, or with `migrate: 'check'` only checks that they exist. */
export async function prepareDatabase(core: Core): Promise<void> {
  await core.migrate('@svc/webhooks', FOLDER)
  await core.queues.define(QUEUE)
  if (core.settings.migrate === 'check') return
  await core.transaction(makeLogDays).catch((error: Error) => {
    // The default partition takes rows of days without a partition: the host can start.
    core.log.warn({ err: error }, 'could not make the next partitions of the delivery log')
  })
}
