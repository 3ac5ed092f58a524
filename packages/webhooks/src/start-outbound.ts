import { createRequire } from 'node:module'
import { InvalidOption } from '@svc/core'
import { deleteOldDeadLetters, sweepRecoveries, type Core, OWN_EVENTS } from '@svc/core/internal'
import { prepareDatabase } from './migrations.ts'
import { deleteOldLogRows, dropLogDays, keptDays, makeLogDays } from './tables/delivery-log-days.ts'
import type { WebhooksSettings } from './options.ts'
import { createAddressFilter } from './outbound/http/blocked-addresses.ts'
import { createDeliveryWorker } from './outbound/delivery/delivery-worker.ts'
import { outboundOperations } from './operations/operations.ts'
import { describeEvents, type DescribedEvent } from './outbound/described-event.ts'
import { parseSeed, SigningKeys } from './outbound/delivery/ed25519.ts'
import { QUEUE, SUBSCRIPTION } from './outbound/delivery-queue.ts'
import { createFetch, type Fetch } from './outbound/http/fetch.ts'
import { awaitCounted, rollUpOlder, sweepStats } from './tables/stats.ts'
import { createPost, type Post } from './outbound/http/post.ts'
import { createProxy } from './outbound/http/proxy.ts'
import { headerNames, type HeaderNames } from './outbound/settings/header-names.ts'
import { HealthWatch } from './outbound/health/health-watch.ts'
import { checkEverySeconds, Probes } from './outbound/delivery/probe.ts'
import { shiftFailureTimes } from './tables/webhook-health.ts'
import { reencryptWebhooks, shiftSecretExpiry } from './tables/webhook-secrets.ts'
import { sweepDeletedWebhooks } from './tables/webhooks.ts'

export interface Outbound {
  operations: ReturnType<typeof outboundOperations>
  /** The client for the requests of sources to providers, which checks addresses. */
  fetch: Fetch
  /** The allowed events, as the host describes them. */
  events: DescribedEvent[]
  headerNames: HeaderNames
  /** `null` where deliveries are not signed with ed25519. */
  signingKeys: SigningKeys | null
}

/** A sender waits for its answer meanwhile, some of them 3 seconds. */
const FETCH_TIMEOUT_MS = 5000
const HOUR_IN_SECONDS = 3600

/** Makes tables, queue and fan-out, starts the worker and the periodic tasks. Returns the operations. */
export async function startOutbound(core: Core, given: WebhooksSettings): Promise<Outbound> {
  const { worker } = core.settings
  const signingKeys = await signingKeysOf(core, given)
  const { retryDelayMaxSeconds } = worker
  const proxy = given.proxy && (await createProxy(given.proxy, core.svc.secrets, core.log))
  const isBlocked = createAddressFilter(given.allowedNetworks)
  const timeoutMs = given.deliveryTimeoutMs
  const probeEverySeconds = given.autoDisable?.probeEverySeconds ?? null
  const health = new HealthWatch(core, given.autoDisable)
  const ownSecrets = await ownSecretsOf(core, given)
  const names = headerNames(given.headerPrefix)
  const settings = {
    ...given,
    headerNames: names,
    retryDelayMaxSeconds,
    signingKeys,
    ownSecrets,
    health,
    log: core.log,
  }

  await prepareDatabase(core)
  const shared = SHARED_OPTIONS.map((name) => [name, given[name]] as const)
  core.lease.declareOptions('svcWebhooks', Object.fromEntries(shared))
  core.lease.declareDays('deadLetterRetentionDays', settings.deadLetterRetentionDays)
  core.lease.declareDays('deliveryLogRetentionDays', settings.deliveryLogRetentionDays)
  await core.fanOut.declare(SUBSCRIPTION, QUEUE, eventsOf(settings))
  core.retainEventsAtLeast(settings.deliveryLogRetentionDays)
  keepLog(core, settings.deliveryLogRetentionDays)
  keepStats(core, health)

  const events = describeEvents(settings.allowedEvents, core.catalogue.entries)
  const way = { isBlocked, userAgent: userAgent(), ...(proxy && { proxy }) }
  const client = createPost({ timeoutMs, ...way })
  const post = untraced(client, core.telemetry.tracer)
  core.onDrained(() => post.close())
  core.onDrained(() => health.close())
  const fetch = createFetch({ timeoutMs: FETCH_TIMEOUT_MS, ...way })
  core.onDrained(() => fetch.close())
  const probes =
    probeEverySeconds === null ? null : new Probes(core, post, settings, probeEverySeconds)
  core.work(createDeliveryWorker(core, post, settings, probes))
  core.every(HOUR_IN_SECONDS, 'old dead letters of webhooks', async (stopping) => {
    const own = settings.deadLetterRetentionDays
    const days = await keptDays(core.db, 'deadLetterRetentionDays', own)
    await deleteOldDeadLetters(core.db, QUEUE, days, stopping)
  })
  if (probes && probeEverySeconds !== null) {
    const seconds = checkEverySeconds(probeEverySeconds)
    core.every(seconds, 'probes of disabled webhooks', (stopping) => probes.run(stopping))
  }
  core.reencryption.add(() => reencryptWebhooks(core))
  core.onAdvance({ rows: shiftSecretExpiry })
  const countAll = async () => {
    await core.transaction(awaitCounted)
    await health.flush()
  }
  core.onAdvance({ written: countAll, rows: shiftFailureTimes })
  return {
    fetch,
    operations: outboundOperations(core, post, { ...settings, isBlocked, events }),
    events,
    headerNames: names,
    signingKeys,
  }
}

/**
 * The span of an attempt is that of its request. Other instrumentations of HTTP make no second one,
 * and do not send receivers the trace unless the host allows it.
 */
function untraced(post: Post, tracer: Core['telemetry']['tracer']): Post {
  if (tracer === null) return post
  return { ...post, send: (...request) => tracer.suppressed(() => post.send(...request)) }
}

/** Those that all processes that deliver should have alike: a receiver does not know which one delivers. */
const SHARED_OPTIONS = [
  'deliveryTimeoutMs',
  'allowedNetworks',
  'headerPrefix',
  'standardWebhooks',
  'defaultTransform',
  'deactivateOnGone',
  'autoDisable',
  'maxWebhooksPerTenant',
  'deliveryLogRetentionDays',
  'deadLetterRetentionDays',
] as const

/** The events of the host, and those of this package. */
const eventsOf = ({ allowedEvents }: WebhooksSettings): string[] => [
  ...new Set([...allowedEvents, ...OWN_EVENTS]),
]

/** The secrets that deliveries are made with, other than those of webhooks. */
async function ownSecretsOf(core: Core, { ed25519, proxy }: WebhooksSettings): Promise<string[]> {
  const signing = ed25519?.secretNames ?? [ed25519?.secretName]
  const names = [...signing, proxy?.secretName].flatMap((name) => name ?? [])
  const secrets = await Promise.all(names.map((name) => core.svc.secrets.get(name)))
  return secrets.filter((secret) => secret !== null)
}

/** @throws InvalidOption */
async function signingKeysOf(
  core: Core,
  { ed25519 }: WebhooksSettings,
): Promise<SigningKeys | null> {
  if (ed25519 === null) return null
  const names = ed25519.secretNames ?? [ed25519.secretName]
  return new SigningKeys(await Promise.all(names.map((name) => seedOf(core, name))))
}

/** @throws InvalidOption */
async function seedOf({ svc }: Core, secretName: string): Promise<Buffer> {
  const secret = await svc.secrets.get(secretName)
  const seed = secret === null ? null : parseSeed(secret)
  if (seed !== null) return seed
  const found = secret === null ? 'it is not set' : 'it is another text'
  throw new InvalidOption(
    `svcWebhooks: the secret "${secretName}" of the option "ed25519" must be "whsk_" and the base64 of a 32-byte seed, or of seed and public key, but ${found}`,
  )
}

function keepLog(core: Core, days: number): void {
  if (core.settings.migrate === 'check') {
    core.every(HOUR_IN_SECONDS, 'old rows of the delivery log', (stopping) =>
      deleteOldLogRows(core.db, days, stopping),
    )
  } else {
    core.every(HOUR_IN_SECONDS, 'next days of the delivery log', () =>
      core.transaction(makeLogDays),
    )
    core.every(HOUR_IN_SECONDS, 'old days of the delivery log', async () => {
      while (await core.transaction((db) => dropLogDays(db, days)));
    })
  }
  const longest = () => keptDays(core.db, 'deliveryLogRetentionDays', days)
  core.every(HOUR_IN_SECONDS, 'tenants of deleted webhooks', async () =>
    sweepDeletedWebhooks(core.db, await longest()),
  )
  core.every(HOUR_IN_SECONDS, 'old recoveries', async () =>
    sweepRecoveries(core.db, await longest()),
  )
}

const ROLL_UP_SECONDS = 10
const MINUTES_KEPT_DAYS = 7
const HOURS_KEPT_DAYS = 90
const DAYS_KEPT = 400

function keepStats(core: Core, health: HealthWatch): void {
  core.every(ROLL_UP_SECONDS, 'statistics of deliveries', async (stopping) => {
    await health.count(stopping)
  })
  core.every(HOUR_IN_SECONDS, 'old statistics of deliveries', async () => {
    await core.transaction((db) => rollUpOlder(db, 'minute', 'hour', MINUTES_KEPT_DAYS))
    await core.transaction((db) => rollUpOlder(db, 'hour', 'day', HOURS_KEPT_DAYS))
    await sweepStats(core.db, DAYS_KEPT)
  })
}

function userAgent(): string {
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
  return `svc-webhooks/${version}`
}
