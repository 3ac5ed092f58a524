import { AlreadyRegistered } from '@svc/core'
import {
  bootOnCore,
  hasServer,
  hideRoutes,
  managementApi,
  operationRoutes,
  registerActions,
  type Core,
} from '@svc/core/internal'
import { ProviderClient } from '@svc/providers/internal'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createTenantPart } from './operations/erase-tenant.ts'
import { inboundOperations } from './operations/inbound.ts'
import { callerOf } from './caller.ts'
import { createSvcWebhooks } from './operations/svc-webhooks.ts'
import { warnOfGuardedSources, warnOfUnguardedManagement } from './guard-presence.ts'
import { InboundTelemetry } from './inbound/inbound-telemetry.ts'
import { registerInbound, type InboundSettings } from './inbound/register.ts'
import { RequestLog } from './inbound/request-log.ts'
import { warnOfTestsInProduction, warnOfVainOptions } from './inbound/sources.ts'
import {
  resolveWebhooksOptions,
  type SvcWebhooksOptions,
  type WebhooksSettings,
} from './options.ts'
import { startOutbound, type Outbound } from './start-outbound.ts'
import type { Fetch } from './outbound/http/fetch.ts'
import { keptDays } from './tables/delivery-log-days.ts'
import { sweepInboundRows } from './tables/inbound-log.ts'
import { asyncApiRoute } from './routes/asyncapi.ts'
import { MANAGED, unknownId } from './routes/management.ts'
import { describeDeliveries } from './routes/openapi.ts'
import { egressRoute, noPublicKeyRoutes, publicKeyRoutes } from './routes/for-receivers.ts'

async function webhooks(app: FastifyInstance, options: SvcWebhooksOptions): Promise<void> {
  const settings = resolveWebhooksOptions(options)
  warnOfVainOptions(app.log, options.inbound)
  warnOfTestsInProduction(app.log, settings.inboundTests)
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
  const { sources } = settings
  const inbound = startInbound(core, settings, outbound.fetch, app)
  core.svc.webhooks = createSvcWebhooks(core, { ...inbound.operations, ...outbound.operations })
  core.onEraseTenant(createTenantPart(core))
  registerActions(core.svc.actions, 'svc.webhooks', core.svc.webhooks)
  const { managementBasePath, openapi } = settings
  // Without a server nobody asks.
  if (!hasServer(app)) return
  if (managementBasePath !== null) {
    core.feed.path = `${app.prefix}${managementBasePath}/feed`
    await managementApi(
      app,
      managementBasePath,
      (api) => {
        if (!openapi) hideRoutes(api)
        if (outbound.signingKeys === null) noPublicKeyRoutes(api)
        else publicKeyRoutes(api, outbound.signingKeys)
        egressRoute(api, settings.egressAddresses)
        asyncApiRoute(api, outbound.events, outbound.headerNames)
        const swaggerTransform = describeDeliveries(outbound.events, outbound.headerNames)
        const ofPackage = {
          tag: 'webhooks',
          callerOf,
          config: (own: object | undefined, name: string) =>
            name === 'register' ? { ...MANAGED, swaggerTransform } : (own ?? MANAGED),
        }
        const { listInbound: _, replayInbound: _ofLog, ...ofSources } = inbound.operations
        if (settings.inboundLog) operationRoutes(api, inbound.operations, ofPackage)
        else if (sources.length > 0) operationRoutes(api, ofSources, ofPackage)
        operationRoutes(api, outbound.operations, ofPackage)
      },
      unknownId,
    )
    warnOfUnguardedManagement(app, managementBasePath)
  }
  warnOfGuardedSources(app, sources)
  registerInbound(app, sources, inbound.receiving)
}

const HOUR_IN_SECONDS = 3600

function startInbound(
  core: Core,
  { sources, bodyLimitBytes, inboundLog, inboundTests }: WebhooksSettings,
  fetch: Fetch,
  server: FastifyInstance,
) {
  const log = inboundLog ? new RequestLog(core, inboundLog) : null
  const providerClient = new ProviderClient((request) => fetch.send(request))
  const telemetry = new InboundTelemetry(core.telemetry)
  const receiving: InboundSettings = { core, providerClient, log, bodyLimitBytes, telemetry }
  const operations = inboundOperations(core, sources, { server, log: core.log }, inboundTests)
  if (!log || !inboundLog) return { receiving, operations }
  core.onDrained(() => log.close())
  core.lease.declareDays('inboundLogRetentionDays', inboundLog.keepDays)
  core.every(HOUR_IN_SECONDS, 'old rows of the inbound log', async (stopping) => {
    const days = await keptDays(core.db, 'inboundLogRetentionDays', inboundLog.keepDays)
    await sweepInboundRows(core.db, days, stopping)
  })
  return { receiving, operations }
}

/** @throws AlreadyRegistered */
function assertFirst({ svc }: Core): void {
  if (!svc.actions.names().includes('__svc.webhooks.register')) return
  throw new AlreadyRegistered(
    'svcWebhooks is registered already: register it once, with all events and all sources in its options',
  )
}

/**
 * Webhooks out and in. Published events are delivered to registered URLs, and the requests of
 * configured senders are verified and published as events. Where the host has not registered
 * `svcCore`, this plugin does, with its defaults.
 *
 * @throws InvalidOption at boot, for an option of a wrong type or value, an event that is listed
 *   twice, or a source whose path has a route already
 * @throws AlreadyRegistered at boot, where the host has registered it already
 * @throws MigrationBlocked, RightsMissing at boot, where its tables cannot be made, and the boot
 *   errors of `svcCore`
 * @example
 * await app.register(svcCore, { database: process.env.DATABASE_URL! })
 * await app.register(svcWebhooks, { allowedEvents: ['order.created'] })
 * @see https://www.standardwebhooks.com for the headers of the option `standardWebhooks`
 */
export const svcWebhooks = fp(webhooks, { name: '@svc/webhooks', fastify: '5.x' })
