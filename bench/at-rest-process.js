/**
 * A process that does nothing: Node alone, or what a host adds to it. It is JavaScript and runs in the
 * folder of a host, with the packages as they are published: to load TypeScript takes memory of its own.
 */
const EVENT = 'order.created'
/** What the subscriptions and the webhooks of a large host want: it comes while they are prepared. */
const WANTED = 'order.paid'
let app
let statements = 0

const fastify = async () => (await import('fastify')).default({ logger: { level: 'fatal' } })

/** What a kind does not use is not loaded. */
const kinds = {
  Node: async () => undefined,
  Fastify: fastify,
  async 'svcCore that only publishes'(database) {
    const app = await fastify()
    const { svcCore } = await import('@svc/core')
    return app.register(svcCore, { database, worker: { enabled: false } })
  },
  async 'svcAuth and svcWebhooks'(database) {
    const app = await fastify()
    await app.register((await import('@svc/core')).svcCore, { database })
    await app.register((await import('@svc/auth')).svcAuth)
    await app.register((await import('@svc/webhooks')).svcWebhooks, {
      allowedEvents: [EVENT, WANTED],
      allowedNetworks: ['127.0.0.0/8'],
    })
    return app
  },
  async 'svcAuth and svcWebhooks with many webhooks'(database) {
    const app = await kinds['svcAuth and svcWebhooks'](database)
    await app.after()
    for (let n = 0; n < 20; n++) {
      await app.svc.events.subscribe(WANTED, () => {}, { subscription: `subscription-${n}` })
    }
    return app
  },
}

const methods = {
  async start(kind, database) {
    if (kind.startsWith('svc')) await countStatements()
    app = await kinds[kind](database)
    await app?.listen({ port: 0, host: '127.0.0.1' })
  },
  /** So many webhooks with an order, with a rate, and paused ones. */
  async register(url, ordered, limited, paused) {
    const webhook = { url, events: WANTED }
    const { webhooks } = app.svc
    for (let n = 0; n < ordered; n++) await webhooks.register({ ...webhook, ordered: true })
    for (let n = 0; n < limited; n++) {
      await webhooks.register({ ...webhook, rateLimit: { limit: 10, perSeconds: 1 } })
    }
    for (let n = 0; n < paused; n++) {
      const { id } = await webhooks.register(webhook)
      await webhooks.update({ id, active: false })
    }
    await app.svc.events.publish(WANTED, { order: 1 })
  },
  /** An event, so that what only a publish loads is counted. */
  publish: async () => void (await app.svc.events.publish(EVENT, { order: 1 })),
  statements: () => statements,
  cpu() {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  rssMegabytes: () => process.memoryUsage.rss() / 2 ** 20,
}

async function countStatements() {
  const { prototype } = (await import('pg')).default.Client
  const { value } = Object.getOwnPropertyDescriptor(prototype, 'query')
  prototype.query = function counted(...args) {
    statements++
    return Reflect.apply(value, this, args)
  }
}

async function answer({ id, method, args }) {
  try {
    process.send({ id, result: await methods[method](...args) })
  } catch (error) {
    process.send({ id, error: error.stack })
  }
}

async function end() {
  await app?.close()
  process.exit()
}

process.on('message', (call) => void answer(call))
process.on('disconnect', () => void end())
process.send({ id: 0, result: null })
