// A host whose routes need an API key.
//   npm install fastify @svc/auth
//   DATABASE_URL=postgres://… BOOTSTRAP_KEY=at-least-16-characters node api-keys.ts
// The bootstrap key makes the first user, and the user's key:
//   curl localhost:3000/_auth/users -H 'x-api-key: at-least-16-characters' \
//     -H 'content-type: application/json' -d '{ "email": "ada@example.com", "name": "Ada" }'
//   curl localhost:3000/_auth/users/<id>/keys -H 'x-api-key: at-least-16-characters' \
//     -H 'content-type: application/json' -d '{ "scopes": ["read", "billing:read"] }'
//   curl localhost:3000/invoices -H 'authorization: Bearer <key>'
import Fastify from 'fastify'
import { svcAuth } from '@svc/auth'

const app = Fastify({ logger: true })
await app.register(svcAuth, {
  bootstrapKeySecret: 'BOOTSTRAP_KEY',
  scopes: ['billing:read'],
  excludePaths: ['/health', '/public/*'],
  // Ten wrong keys within a minute lock out the prefix that they share, for five minutes.
  rateLimit: { maxAttempts: 10, windowMs: 60_000, blockDurationMs: 300_000 },
})

app.get('/health', async () => ({ status: 'ok' }))
app.get('/public/prices', async () => ({ book: 12 }))

// A GET needs a key with `read`, any other method one with `write`.
app.get('/orders', async (request) => ({ orders: [], for: request.auth?.userId }))
app.post('/orders', async (_request, reply) => reply.code(201).send({ id: 1 }))

// A route may ask for a scope of its own instead.
app.get('/invoices', { config: { scopes: ['billing:read'] } }, async () => ({ invoices: [] }))

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
