import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EventEmitter } from 'node:events'
import t from 'tap'
import { lateDecisions } from '../../../packages/auth/src/guard/late-decision.ts'
import { startHost, type KeyInput } from '../support/host.ts'
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
      after: (app) => void app.get('/me', async () => 'me'),
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

/** What became of a decision whose conclusion is `conclude`. */
async function outcomeOf(
  conclude: (pass: () => void, reply: { sent: boolean }) => void,
  log: Partial<FastifyBaseLogger> = {},
) {
  const seen: string[] = []
  const ended = new EventEmitter()
  const reply = {
    sent: false,
    send(error: Error) {
      this.sent = true
      seen.push(`sent: ${error.message}`)
      ended.emit('end')
    },
    code: () => {
      throw new Error('no answer')
    },
    raw: {
      destroy() {
        seen.push('destroyed')
        ended.emit('end')
      },
    },
  }
  const written = (_details: object, text: string) => {
    seen.push(`logged: ${text}`)
    ended.emit('end')
  }
  const later = lateDecisions(() => {}, {
    errorText: null,
    log: { error: written, ...log } as FastifyBaseLogger,
  })
  const end = new Promise((resolve) => ended.once('end', resolve))
  const rest = () => {
    seen.push('passed')
    throw new Error('of the rest')
  }
  const request = { id: '1' } as FastifyRequest
  later(Promise.resolve(), request, reply as unknown as FastifyReply, rest, (_made, pass) =>
    conclude(pass, reply),
  )
  await end
  return seen
}

t.test('a request that was answered is not answered again', async (t) => {
  t.same(await outcomeOf((pass) => pass()), ['passed', 'sent: of the rest'])
  const answered = await outcomeOf((pass, reply) => {
    reply.sent = true
    pass()
  })
  t.same(answered, ['passed', 'logged: a request threw an error after it was answered'])
})

t.test('the connection ends where a request cannot be answered', async (t) => {
  const failing = () => {
    throw new Error('of the guard')
  }
  t.same(await outcomeOf(failing), ['destroyed'])
})
