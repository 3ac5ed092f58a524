/** A host that probes, in a process of its own, to be killed: `node probing-process.ts <database>`. */
import Fastify from 'fastify'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'

const app = Fastify({ pluginTimeout: 60_000 })
await app.register(svcCore, {
  database: { connectionString: process.argv[2]!, max: 4 },
  worker: { retryDelaySeconds: 1, retryBackoff: false, maxAttempts: 1000 },
})
await app.register(svcWebhooks, {
  allowedEvents: ['order.created', 'order.shipped'],
  allowedNetworks: ['127.0.0.0/8'],
  autoDisable: { failingForSeconds: 1, minAttempts: 2, probeEverySeconds: 0.5 },
})
await app.ready()
process.send!('ready')
