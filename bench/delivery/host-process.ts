/** An application with our plugins, in a process of its own. */
import Fastify, { type FastifyInstance } from 'fastify'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import { atRate, withMostInFlight } from '../load/paced.ts'
import { now } from '../measure/clock.ts'
import { serve } from '../processes/serve.ts'
import { usageOfThisProcess } from '../processes/usage.ts'
import { payloadOf } from './payload.ts'

export interface HostOptions {
  database: string
  events: string[]
  worker?: NonNullable<SvcCoreOptions['worker']>
  deliveryTimeoutMs?: number
}

export interface Registration {
  url: string
  events: string[]
}

let app: FastifyInstance

const methods = {
  async start({ database, events, worker, deliveryTimeoutMs = 10_000 }: HostOptions) {
    app = Fastify({ logger: { level: process.env.LOG_LEVEL ?? 'fatal' } })
    await app.register(svcCore, { database, ...(worker ? { worker } : {}) })
    await app.register(svcWebhooks, {
      allowedEvents: events,
      allowedNetworks: ['127.0.0.0/8'],
      deliveryTimeoutMs,
    })
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }) }
  },
  async register(registrations: Registration[]): Promise<string[]> {
    const ids: string[] = []
    await withMostInFlight(registrations.length, 8, async (index) => {
      const registration = registrations[index]
      if (!registration) return
      const { id } = await app.svc.actions.call('__svc.webhooks.register', registration)
      ids[index] = id
    })
    return ids
  },
  /** Publishes events as fast as so many concurrent callers can. */
  publish: (event: string, count: number, inFlight: number) =>
    methods.publishInTurn([event], count, inFlight),
  async publishInTurn(
    events: string[],
    count: number,
    inFlight: number,
  ): Promise<{ startedAt: number }> {
    const startedAt = now()
    await withMostInFlight(count, inFlight, (index) =>
      app.svc.events.publish(events[index % events.length] ?? '', payloadOf(index)),
    )
    return { startedAt }
  },
  /** Publishes at an even pace, the events in turn. */
  publishAtRate: (events: string[], rate: number, seconds: number): Promise<void> =>
    atRate({ rate, seconds }, (index) =>
      app.svc.events.publish(events[index % events.length] ?? '', payloadOf(index)),
    ),
  usage: usageOfThisProcess,
  stop: () => app?.close(),
}
export type HostMethods = typeof methods
serve(methods)
