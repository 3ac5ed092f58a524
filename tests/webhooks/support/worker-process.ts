/**
 * A host in a process of its own, to be killed: `node worker-process.ts <database> <attempts>`. Says when it
 * is ready, and begins the recoveries that it is sent.
 */
import Fastify from 'fastify'
import { svcCore } from '@svc/core'
import { svcWebhooks, type RecoverInput } from '@svc/webhooks'

const app = Fastify({ pluginTimeout: 60_000 })
await app.register(svcCore, {
  database: { connectionString: process.argv[2]!, max: 4 },
  worker: { retryDelaySeconds: 1, retryBackoff: false, maxAttempts: Number(process.argv[3]) },
})
await app.register(svcWebhooks, {
  allowedEvents: ['order.created', 'order.shipped'],
  allowedNetworks: ['127.0.0.0/8'],
  deliveryTimeoutMs: 60_000,
})
await app.ready()
process.on('message', (asked: RecoverInput) => {
  void app.svc.webhooks.recover(asked).then((result) => process.send!(result))
})
process.send!('ready')
