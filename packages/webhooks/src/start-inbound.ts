/**
 * Starts inbound with the parts that it needs: the client for requests to providers, the database,
 * the log.
 */
import { longestDays, type Core } from '@svc/core/internal'
import { ProviderClient } from '@svc/providers/internal'
import type { FastifyInstance } from 'fastify'
import { InboundTelemetry } from './inbound/inbound-telemetry.ts'
import type { InboundSettings } from './inbound/register.ts'
import { RequestLog } from './inbound/request-log.ts'
import { inboundOperations } from './operations/inbound.ts'
import type { WebhooksSettings } from './options.ts'
import type { Fetch } from './outbound/http/fetch.ts'
import { sweepInboundRows } from './tables/inbound-log.ts'

export interface Inbound {
  receiving: InboundSettings
  operations: ReturnType<typeof inboundOperations>
}

const HOUR_IN_SECONDS = 3600
/** The longest setting of all processes counts, also that of one that ended within the last day. */
const DAY_IN_SECONDS = 24 * 3600

export function startInbound(
  core: Core,
  { sources, bodyLimitBytes, inboundLog }: WebhooksSettings,
  fetch: Fetch,
  server: FastifyInstance,
): Inbound {
  const log = inboundLog ? new RequestLog(core, inboundLog) : null
  const providerClient = new ProviderClient((request) => fetch.send(request))
  const telemetry = new InboundTelemetry(core.telemetry)
  const receiving = { core, providerClient, log, bodyLimitBytes, telemetry }
  const operations = inboundOperations(core, sources, { server, log: core.log })
  if (!log || !inboundLog) return { receiving, operations }
  core.onDrained(() => log.close())
  core.lease.declareDays('inboundLogRetentionDays', inboundLog.keepDays)
  core.every(HOUR_IN_SECONDS, 'old rows of the inbound log', async (stopping) => {
    const longest = await longestDays(core.db, 'inboundLogRetentionDays', DAY_IN_SECONDS)
    await sweepInboundRows(core.db, Math.max(longest, inboundLog.keepDays), stopping)
  })
  return { receiving, operations }
}
