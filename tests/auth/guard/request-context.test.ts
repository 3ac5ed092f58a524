import requestContextPlugin, { requestContext } from '@fastify/request-context'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { prepareHost, startHost } from '../support/host.ts'

/** Answers with what the context says, far from the request. */
const after = (app: FastifyInstance) => {
  app.all('/me', async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return {
      userId: requestContext.get('auth.userId') ?? null,
      scopes: requestContext.get('auth.scopes') ?? null,
      bootstrap: requestContext.get('auth.bootstrap') ?? null,
    }
  })
}

const withPlugin = async (app: FastifyInstance) => {
  await app.register(requestContextPlugin)
}

t.test('the request context of a host holds the caller', async (t) => {
  const { ask, makeKey } = await startHost(t, { before: withPlugin, after })
  const keys = await Promise.all([1, 2, 3].map(() => makeKey({ scopes: ['write'] })))
  // First with a query in the way, then from memory, all at once.
  for (let round = 0; round < 2; round++) {
    await Promise.all(
      keys.map(async ({ key, userId }) => {
        const { body } = await ask('POST', '/me', { key, body: {} })
        t.same(body, { userId, scopes: ['write'], bootstrap: false })
      }),
    )
  }
  t.same((await ask('GET', '/me')).body, { userId: null, scopes: ['admin'], bootstrap: true })
})

t.test('the option requestContext opens a context if the host has none', async (t) => {
  const { ask, makeKey } = await startHost(t, { auth: { requestContext: true }, after })
  const { key, userId } = await makeKey()
  t.match((await ask('GET', '/me', { key })).body, { userId, bootstrap: false })
})

t.test('the request context of an open path holds no caller', async (t) => {
  const auth = { excludePaths: ['/me'] }
  const { ask } = await startHost(t, { auth, before: withPlugin, after })
  t.same((await ask('GET', '/me')).body, { userId: null, scopes: null, bootstrap: null })
})

t.test('a context that opens after the guard keeps the host from booting', async (t) => {
  const tooLate = { code: 'SVC_AUTH_REQUEST_CONTEXT_TOO_LATE' }
  const afterGuard = await prepareHost(t, { database: await freshDatabase(t), after: withPlugin })
  await t.rejects(async () => await afterGuard.ready(), tooLate)

  const laterHook = await prepareHost(t, {
    database: await freshDatabase(t),
    before: async (app) => {
      await app.register(requestContextPlugin, { hook: 'preHandler' })
    },
  })
  await t.rejects(async () => await laterHook.ready(), tooLate)

  const notWanted = await prepareHost(t, {
    database: await freshDatabase(t),
    auth: { requestContext: false },
    after: withPlugin,
  })
  await t.resolves(async () => await notWanted.ready())
})
