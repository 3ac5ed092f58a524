import { createRequire } from 'node:module'
import { longestDays, deleteOldDeadLetters, type Core } from '@svc/core/internal'
import { dropLogDays, makeLogDays } from '../tables/delivery-log.ts'
import type { WebhooksSettings } from '../options.ts'
import { addressGuard } from './http/blocked-addresses.ts'
import { deliveryWorker } from './delivery/delivery-worker.ts'
import { deliveriesOf, type Deliveries } from '../operations/deliveries.ts'
import { recordLost } from './delivery/crashed-attempts.ts'
import { QUEUE, SUBSCRIPTION } from './constants.ts'
import { openPost } from './http/post.ts'
import { webhooksOf, type Webhooks } from '../operations/webhooks.ts'

export interface Outbound {
  webhooks: Webhooks
  deliveries: Deliveries
}

const MIGRATIONS = new URL('../../sql/', import.meta.url)
const MINUTE_IN_SECONDS = 60
const HOUR_IN_SECONDS = 3600
/** Data is kept as the longest setting says, also that of a process that ended within a day. */
const DAY_IN_SECONDS = 24 * 3600

/** Tables, queue, fan-out, worker and sweeps; returns the operations. */
export async function startOutbound(core: Core, given: WebhooksSettings): Promise<Outbound> {
  const { worker } = core.settings
  const settings = { ...given, retryDelayMaxSeconds: worker.retryDelayMaxSeconds }
  const refuses = addressGuard(settings.allowedNetworks)
  const timeoutMs = settings.deliveryTimeoutMs

  await core.migrate('@svc/webhooks', MIGRATIONS)
  core.lease.declareDays('deadLetterRetentionDays', settings.deadLetterRetentionDays)
  core.lease.declareDays('deliveryLogRetentionDays', settings.deliveryLogRetentionDays)
  await core.queues.define(QUEUE)
  await core.fanOut.declare(SUBSCRIPTION, QUEUE, settings.allowedEvents)
  core.retainEventsAtLeast(settings.deliveryLogRetentionDays)
  await keepLog(core, settings.deliveryLogRetentionDays)

  const post = openPost({ timeoutMs, refuses, userAgent: userAgent() })
  core.onDrained(() => post.close())
  core.work(deliveryWorker(core, post, settings))
  core.every(HOUR_IN_SECONDS, 'old dead letters of webhooks', async () => {
    const longest = await longestDays(core.db, 'deadLetterRetentionDays', DAY_IN_SECONDS)
    await deleteOldDeadLetters(core.db, QUEUE, Math.max(longest, settings.deadLetterRetentionDays))
  })
  core.every(MINUTE_IN_SECONDS, 'attempts of processes that died', () => recordLost(core))
  return {
    webhooks: webhooksOf(core, { allowedEvents: settings.allowedEvents, refuses }),
    deliveries: deliveriesOf(core, post, settings),
  }
}

async function keepLog(core: Core, days: number): Promise<void> {
  const makeDays = () => core.transaction(makeLogDays)
  await makeDays().catch((error: Error) => {
    // A row for which no day has been made is kept all the same: no reason not to start.
    core.log.warn({ err: error }, 'the next days of the delivery log could not be made')
  })
  core.every(HOUR_IN_SECONDS, 'next days of the delivery log', makeDays)
  core.every(HOUR_IN_SECONDS, 'old days of the delivery log', () =>
    core.transaction((db) => dropLogDays(db, days)),
  )
}

function userAgent(): string {
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
  return `svc-webhooks/${version}`
}
