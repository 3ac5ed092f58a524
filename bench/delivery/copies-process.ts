/** Applications that deliver, each with a copy of the packages, in one process. */
import type * as Core from '@svc/core'
import type * as Webhooks from '@svc/webhooks'
import Fastify, { type FastifyInstance } from 'fastify'
import { importCopy } from '../copies.ts'
import { serve } from '../process.ts'
import { payloadOf, withMostInFlight } from '../traffic.ts'

const EVENT = 'order.created'
let hosts: FastifyInstance[] = []

const methods = {
  async start(copy: string, database: string, url: string): Promise<void> {
    const { svcCore } = await importCopy<typeof Core>('@svc/core', copy)
    const { svcWebhooks } = await importCopy<typeof Webhooks>('@svc/webhooks', copy)
    const app = Fastify()
    await app.register(svcCore, { database })
    await app.register(svcWebhooks, { allowedEvents: [EVENT], allowedNetworks: ['127.0.0.0/8'] })
    await app.ready()
    await app.svc.webhooks.register({ url, events: [EVENT] })
    hosts.push(app)
  },
  async publish(host: number, count: number, callers: number): Promise<void> {
    await withMostInFlight(count, callers, async (index) =>
      hosts[host]?.svc.events.publish(EVENT, payloadOf(index)),
    )
  },
  collectGarbage(): void {
    gc?.({ type: 'minor' })
  },
  async stop(): Promise<void> {
    for (const app of hosts) await app.close()
    hosts = []
  },
}
export type CopiesMethods = typeof methods
serve(methods)
