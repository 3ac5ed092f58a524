/** An application with svcCore and svcWebhooks, in a process of its own. */
import { setTimeout as pause } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { Type } from '@sinclair/typebox'
import { defineEvents, svcCore, type SvcCoreOptions } from '@svc/core'
import { svcWebhooks, type WebhookFilter } from '@svc/webhooks'
import { serve } from '../process.ts'
import { countStatements } from '../statements.ts'
import { atRate, now, payloadOf, withMostInFlight, type Payload } from '../traffic.ts'
import { Arrivals } from './arrivals.ts'

export interface HostOptions {
  database: string
  events: string[]
  worker?: NonNullable<SvcCoreOptions['worker']>
  deliveryTimeoutMs?: number
  /** Events whose payloads are checked against a schema at publish. */
  checked?: string[]
  subscriptions?: Subscription[]
}

export interface Subscription {
  event: string
  concurrency: number
  /** How long the handler waits. */
  takesMs: number
}

interface Webhook {
  url: string
  events: string[]
  filter?: WebhookFilter
  ordered?: boolean
}

let app: FastifyInstance
let handled = new Arrivals()
const statements = await countStatements()

const methods = {
  async start(options: HostOptions): Promise<void> {
    const { database, events, worker, checked, subscriptions = [] } = options
    const { deliveryTimeoutMs = 10_000 } = options
    app = Fastify({ logger: { level: process.env.LOG_LEVEL ?? 'fatal' } })
    await app.register(svcCore, {
      database,
      ...(worker ? { worker } : {}),
      ...(checked ? { events: catalogueOf(checked) } : {}),
    })
    await app.register(svcWebhooks, {
      allowedEvents: events,
      allowedNetworks: ['127.0.0.0/8'],
      deliveryTimeoutMs,
    })
    for (const subscription of subscriptions) await subscribe(subscription)
    await app.ready()
  },
  async register(webhooks: Webhook[]): Promise<void> {
    await withMostInFlight(webhooks.length, 8, async (index) => {
      const webhook = webhooks[index]
      if (webhook) await app.svc.actions.call('__svc.webhooks.register', webhook)
    })
  },
  /** The same for one webhook, on a database that was used in the turn before. */
  async registerOnce(webhook: Webhook): Promise<void> {
    if ((await app.svc.webhooks.list()).length === 0) await methods.register([webhook])
  },
  /** Begins a recovery of what the webhook of this URL lacks, or only counts it. */
  async recover(url: string, what: 'dead' | 'missing', dryRun: boolean): Promise<number> {
    const id = await idOf(url)
    const since = '2020-01-01T00:00:00Z'
    return (await app.svc.webhooks.recover({ id, what, since, dryRun })).deliveries
  },
  /** The newest recovery of the webhook of this URL. */
  async recovery(url: string): Promise<{ done: number; isFinished: boolean }> {
    const [newest] = await app.svc.webhooks.listRecoveries({ webhookId: await idOf(url), limit: 1 })
    return { done: newest?.done ?? 0, isFinished: Boolean(newest?.finishedAt) }
  },
  async deadLetters(url: string): Promise<number> {
    return (await app.svc.webhooks.listDeadLetters({ webhookId: await idOf(url), limit: 1 })).length
  },
  /** The connections of all processes to the database. */
  async connections(): Promise<number> {
    const { rows } = await app.svc.database.query(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'`,
    )
    return rows[0].count
  },
  /** Publishes as fast as `callers` concurrent callers can, the events in turn. */
  async publish(events: string[], count: number, callers: number) {
    const startedAt = now()
    await withMostInFlight(count, callers, (index) => publishOneOf(events, index))
    return { startedAt, publishedAt: now() }
  },
  publishAtRate: (events: string[], rate: number, seconds: number) =>
    atRate({ rate, seconds }, (index) => publishOneOf(events, index)),
  /** Forgets the events and deliveries of a host that runs no worker. */
  async empty(): Promise<void> {
    await app.svc.database.query('truncate svc."__svc.events"')
    await app.svc.jobs.deleteQueuedJobs('__svc.webhooks.deliver')
  },
  resetHandled(): void {
    handled = new Arrivals()
  },
  handled: (count: number, withinSeconds: number) => handled.reached(count, withinSeconds),
  handledLatency: () => handled.latency(),
  /** Statements sent to Postgres so far, by every client of this process. */
  statements,
  stop: () => app?.close(),
}
export type HostMethods = typeof methods
serve(methods)

async function idOf(url: string): Promise<string> {
  const found = (await app.svc.webhooks.list()).find((webhook) => webhook.url === url)
  return found?.id ?? ''
}

/** The events whose payloads are published here. */
function catalogueOf(names: string[]) {
  const payload = Type.Object({ sentAt: Type.Number(), order: Type.Integer(), note: Type.String() })
  return defineEvents(Object.fromEntries(names.map((name) => [name, { payload }])))
}

async function subscribe({ event, concurrency, takesMs }: Subscription): Promise<void> {
  const handler = async (payload: unknown): Promise<void> => {
    handled.add(event, (payload as Payload).sentAt)
    if (takesMs > 0) await pause(takesMs)
  }
  await app.svc.events.subscribe(event, handler, { subscription: event, concurrency })
}

const publishOneOf = (events: string[], index: number) =>
  app.svc.events.publish(events[index % events.length] ?? '', payloadOf(index))
