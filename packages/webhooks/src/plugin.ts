import { AlreadyRegistered } from '@svc/core'
import { bootOnCore, managementApi, type Core } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { registerActions } from './operations/named-actions.ts'
import { registerInbound } from './inbound/index.ts'
import { settleWebhooksOptions, type SvcWebhooksOptions, type WebhooksSettings } from './options.ts'
import { startOutbound, type Outbound } from './outbound/start.ts'
import { serveDeliveries } from './routes/deliveries.ts'
import { keepOutOfCaches, unknownId } from './routes/management.ts'
import { serveRegistrations } from './routes/webhooks.ts'
import { warnWhereOpen } from './routes/guard-warning.ts'

async function webhooks(app: FastifyInstance, options: SvcWebhooksOptions): Promise<void> {
  const settings = settleWebhooksOptions(options)
  bootOnCore(
    app,
    '@svc/webhooks',
    (core) => {
      assertFirst(core)
      return startOutbound(core, settings)
    },
    (core, outbound) => mount(app, core, settings, outbound),
  )
}

async function mount(
  app: FastifyInstance,
  core: Core,
  settings: WebhooksSettings,
  outbound: Outbound,
): Promise<void> {
  registerActions(core.svc, outbound.webhooks, outbound.deliveries)
  await managementApi(
    app,
    settings.managementBasePath,
    (api) => {
      keepOutOfCaches(api)
      serveRegistrations(api, outbound.webhooks)
      serveDeliveries(api, outbound.deliveries)
    },
    unknownId,
  )
  warnWhereOpen(app, settings.managementBasePath)
  registerInbound(app, core, settings.sources, settings)
}

/** @throws AlreadyRegistered */
function assertFirst({ svc }: Core): void {
  if (!svc.actions.names().includes('__svc.webhooks.register')) return
  throw new AlreadyRegistered(
    'svcWebhooks is registered already: register it once, with all events and all sources in its options',
  )
}

/** Webhooks, out and in: published events to registered URLs, and senders' requests to events. */
export const svcWebhooks = fp(webhooks, { name: '@svc/webhooks', fastify: '5.x' })
