/** A host in a process of its own: `node host-process.ts <connection string>` prints its port. */
import Fastify from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'

const app = Fastify({ pluginTimeout: 60_000 })
await app.register(svcCore, {
  database: { connectionString: process.argv[2], max: 3 },
  worker: { enabled: false },
})
await app.register(svcAuth, {})
app.get('/me', async () => 'me')
const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`${new URL(address).port}\n`)
