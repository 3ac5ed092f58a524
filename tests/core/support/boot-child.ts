// One process of an application: says that it is ready, and closes when its standard input ends.
import Fastify from 'fastify'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'

// How long ten of them take on a busy machine is not the question.
const app = Fastify({ pluginTimeout: 0 })
await app.register(svcCore, {
  database: { connectionString: process.argv[2], max: 3, connectionTimeoutMillis: 60_000 },
})
await app.register(svcWebhooks, { allowedEvents: ['booted'] })
await app.svc.events.subscribe('booted', () => {})
await app.ready()
process.stdout.write('ready\n')
process.stdin.on('end', () => void app.close()).resume()
