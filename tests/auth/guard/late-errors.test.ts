import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { createGuard, type GuardParts } from '../../../packages/auth/src/guard/guard.ts'
import { createCachedKey } from '../../../packages/auth/src/guard/keys/key-cache.ts'
import { NO_SCOPE } from '../../../packages/auth/src/guard/policy/route-policy.ts'
import { startHost, withMe, type KeyInput } from '../support/host.ts'
import { logOf } from '../support/log.ts'

const keys: [whose: string, input: KeyInput][] = [
  ['a key', {}],
  ['a key with limits', { limits: [{ limit: 100, perSeconds: 3600 }] }],
]

for (const [whose, input] of keys) {
  t.test(`an error of the guard refuses the request of ${whose}`, async (t) => {
    const log = logOf()
    const { ask, makeKey } = await startHost(t, {
      fastify: { logger: { level: 'error', stream: log } },
      before: withThrowingContext,
      after: withMe,
    })
    const { key } = await makeKey(input)

    t.match(await ask('GET', '/me', { key }), {
      status: 503,
      body: { code: 'SVC_AUTH_UNAVAILABLE' },
      headers: { 'retry-after': '1' },
    })
    const [entry] = log.entries('the guard threw an error; the request was refused')
    t.match(entry, { err: { message: 'no room in the context' }, reqId: /./ })
    t.equal(
      (await ask('GET', '/me', { key })).status,
      500,
      'Fastify answers where it is remembered',
    )
  })
}

/** A request context to which nothing can be written. */
function withThrowingContext(app: FastifyInstance): void {
  const set = () => {
    throw new Error('no room in the context')
  }
  app.decorate('requestContext', {} as never)
  app.decorateRequest('requestContext', { getter: () => ({ set }) } as never)
}

/** What became of a request whose key was looked up. `rest`: what follows the guard. */
async function outcomeOf(
  rest: (reply: { sent: boolean }) => void,
  parts: Partial<GuardParts> = {},
) {
  const seen: string[] = []
  const ended = Promise.withResolvers<void>()
  const see = (what: string): void => {
    seen.push(what)
    ended.resolve()
  }
  const reply = {
    sent: false,
    send: (error: Error) => see(`sent: ${error.message}`),
    code() {
      throw new Error('no answer')
    },
    raw: { destroy: () => see('destroyed') },
  }
  const key = createCachedKey({
    userId: 'u',
    scopes: [],
    bootstrap: false,
    keyId: null,
    tenant: null,
  })
  const guard = createGuard({
    presentedKey: () => 'key',
    keyCache: { validKey: () => undefined },
    authenticator: { authenticate: async () => key },
    lockout: null,
    lastUsed: { tick: -1 },
    usage: null,
    telemetry: null,
    copyToRequestContext: null,
    errorText: null,
    log: { error: (_details: object, text: string) => see(`logged: ${text}`) },
    ...parts,
  } as unknown as GuardParts)
  const policy = { kind: 'guarded', isOptional: false, reading: NO_SCOPE, other: NO_SCOPE } as const
  const request = { id: '1', raw: { rawHeaders: [] } } as unknown as FastifyRequest
  guard.judge(policy, 'GET', request, reply as unknown as FastifyReply, () => {
    seen.push('passed')
    rest(reply)
    throw new Error('of the rest')
  })
  await ended.promise
  return seen
}

t.test('a request that was answered is not answered again', async (t) => {
  t.same(await outcomeOf(() => {}), ['passed', 'sent: of the rest'])
  t.same(await outcomeOf((reply) => void (reply.sent = true)), [
    'passed',
    'logged: a request threw an error after it was answered',
  ])
})

t.test('the connection ends where a request cannot be answered', async (t) => {
  const copyToRequestContext = () => {
    throw new Error('of the guard')
  }
  t.same(await outcomeOf(() => {}, { copyToRequestContext }), ['destroyed'])
})
