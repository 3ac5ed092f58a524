/** The files of an application that `init` makes. */
/** One route that publishes. Which webhooks get the event is set at `/_webhooks`. */
export const APP = `import Fastify from 'fastify'
import { defineEvents, svcCore } from '@svc/core'
import { svcAuth } from '@svc/auth'
import { svcWebhooks } from '@svc/webhooks'

const events = defineEvents({
  // Tests of webhooks send the example: "svc send order.created --via <webhook id>".
  'order.created': { payload: { type: 'object' }, example: { item: 'tea' } },
})

const app = Fastify({ logger: true })
// Every route needs an API key now, except /health.
await app.register(svcCore, { events, encryption: { secretNames: ['ENCRYPTION_KEY'] } })
await app.register(svcAuth, { bootstrapKeySecret: 'BOOTSTRAP_KEY' })
await app.register(svcWebhooks, {
  allowedEvents: ['order.created'],
  // Webhooks may go to this machine, such as to "svc sink": in production they must not.
  allowedNetworks: process.env.NODE_ENV === 'production' ? [] : ['127.0.0.0/8', '::1/128'],
})

app.get('/health', async () => ({ status: 'ok' }))
// For keys with the scope write, or admin.
app.post('/orders', async (request, reply) => {
  const { id } = await app.svc.events.publish('order.created', request.body ?? {})
  return reply.code(202).send({ id })
})

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
`

/** @param versions of what it depends on, by name */
export const packageJson = (
  name: string,
  app: string,
  dependencies: Record<string, string>,
  devDependencies: Record<string, string>,
): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: 'module',
      engines: { node: '>=22.19' },
      scripts: { start: `node --env-file=.env ${app}` },
      dependencies,
      devDependencies,
    },
    null,
    2,
  )}\n`

export const GITIGNORE = 'node_modules\n.env\n'

/** By their names: with a reason above each. */
export const VARIABLES: Record<string, string> = {
  DATABASE_URL: `# The Postgres of docker-compose.yml
DATABASE_URL=postgres://postgres:postgres@localhost:5432/postgres`,
  BOOTSTRAP_KEY: `# An API key for the first calls: "npx svc secret" makes one
# BOOTSTRAP_KEY=`,
  ENCRYPTION_KEY: `# Encrypts the secrets of webhooks: "npx svc secret" makes one
# ENCRYPTION_KEY=`,
}

export const COMPOSE_SERVICE = `  postgres:
    image: postgres:18-alpine
    # Only this machine may connect.
    ports:
      - '127.0.0.1:5432:5432'
    environment:
      POSTGRES_PASSWORD: postgres
    volumes:
      - postgres:/var/lib/postgresql
    healthcheck:
      # Over TCP: while the image initialises itself, its server listens on the socket only.
      test: [CMD, pg_isready, --host=127.0.0.1, --username=postgres]
      interval: 1s
      timeout: 3s
      retries: 60
`

export const COMPOSE = `services:
${COMPOSE_SERVICE}
volumes:
  postgres:
`
