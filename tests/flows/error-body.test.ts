import { svcAuth } from '@svc/auth'
import { svcCore, type ShapeErrorBody } from '@svc/core'
import { headerToken, svcWebhooks } from '@svc/webhooks'
import type { InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { createErrorText } from '../../packages/core/src/http/error-body.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { newHost } from '../support/new-host.ts'

const BOOTSTRAP = 'the-bootstrap-key-of-tests'

async function startHost(t: Test, errorBody?: ShapeErrorBody) {
  const database = await freshDatabase(t)
  const log: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line)) }
  const app = newHost(t, { logger: { stream } })
  const secrets: Record<string, string> = { BOOTSTRAP, TOKEN: 'token' }
  await app.register(svcCore, {
    database,
    secrets: (name) => secrets[name],
    ...(errorBody ? { errorBody } : {}),
  })
  await app.register(svcAuth, { bootstrapKeySecret: 'BOOTSTRAP', excludePaths: ['/hooks/a'] })
  await app.register(svcWebhooks, {
    allowedEvents: ['a'],
    inbound: {
      a: {
        path: '/hooks/a',
        publishAs: 'a',
        verify: headerToken({ header: 'x-token', secretName: 'TOKEN' }),
      },
    },
  })
  app.get('/own', async () => {
    throw new Error('of the host')
  })
  await app.ready()
  const ask = (request: InjectOptions) => app.inject(request)
  return { ask, log }
}

const asAdmin = { authorization: `Bearer ${BOOTSTRAP}` }

/** An error of each kind that is ours. */
const ERRORS: (InjectOptions & { status: number; code: string })[] = [
  { method: 'GET', url: '/own', status: 401, code: 'SVC_AUTH_MISSING_KEY' },
  {
    method: 'GET',
    url: '/_auth/forward-auth',
    headers: { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/x' },
    status: 401,
    code: 'SVC_AUTH_MISSING_KEY',
  },
  {
    method: 'POST',
    url: '/_auth/users',
    headers: asAdmin,
    payload: { name: 5 },
    status: 400,
    code: 'SVC_INVALID_INPUT',
  },
  {
    method: 'DELETE',
    url: '/_auth/users/none',
    headers: asAdmin,
    status: 404,
    code: 'SVC_AUTH_USER_NOT_FOUND',
  },
  {
    method: 'GET',
    url: `/_webhooks/${'x'.repeat(200)}`,
    headers: asAdmin,
    status: 404,
    code: 'SVC_WEBHOOKS_NOT_FOUND',
  },
  { method: 'POST', url: '/hooks/a', payload: {}, status: 401, code: 'SVC_WEBHOOKS_NOT_VERIFIED' },
]

t.test('errorBody shapes every answer of ours, and neither status nor headers', async (t) => {
  const plain = await startHost(t)
  const shaped = await startHost(t, ({ code, message, statusCode }, { url }) => ({
    errors: [{ code, title: message, status: String(statusCode), at: url }],
  }))
  for (const { status, code, ...request } of ERRORS) {
    const before = await plain.ask(request)
    const answer = await shaped.ask(request)
    t.equal(answer.statusCode, status, request.url as string)
    t.match(before.json(), { statusCode: status, code })
    const { message } = before.json()
    t.strictSame(answer.json(), {
      errors: [{ code, title: message, status: String(status), at: request.url }],
    })
    // The last of them has the body.
    const { 'content-length': _one, date: _at, 'x-svc-refusal': _body, ...headers } = before.headers
    const { 'content-length': _other, date: _then, 'x-svc-refusal': copy, ...same } = answer.headers
    if (copy !== undefined) t.equal(copy, answer.body)
    t.strictSame(same, headers)
  }
})

t.test('errors of the host, and answers of ours that are not errors, are left alone', async (t) => {
  const { ask } = await startHost(t, () => ({ shaped: true }))
  const own = await ask({ url: '/own', headers: asAdmin })
  t.match(own.json(), { statusCode: 500, message: 'of the host' })
  const users = await ask({ url: '/_auth/users', headers: asAdmin })
  t.strictSame(users.json(), [])
})

t.test('changing the body of one error does not change the next one', async (t) => {
  const { ask } = await startHost(t, (error) => Object.assign(error, { message: 'x', more: 1 }))
  for (let i = 0; i < 2; i++) {
    t.match((await ask({ url: '/own' })).json(), { message: 'x' })
  }
  const { ask: other } = await startHost(t)
  t.not((await other({ url: '/own' })).json().message, 'x')
})

t.test('where errorBody fails our own body is sent, and the log says so once', async (t) => {
  const { ask, log } = await startHost(t, () => {
    throw new Error('broken')
  })
  for (const { status, code, ...request } of ERRORS) {
    const answer = await ask(request)
    t.equal(answer.statusCode, status)
    t.match(answer.json(), { statusCode: status, code, error: String, message: String })
  }
  const said = log.filter(
    ({ msg }) => msg === 'the option errorBody failed; the default error body was sent',
  )
  t.match(said, [{ level: 50, err: { message: 'broken' } }])
  t.equal(said.length, 1)
})

t.test('an error body that JSON cannot write is replaced by our own', async (t) => {
  const answer = { statusCode: 401, code: 'SVC_X', error: 'Unauthorized', message: 'no' }
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  for (const body of [undefined, () => {}, cycle, 1n, Promise.reject(new Error('late'))]) {
    const said: { err: Error }[] = []
    let nowMs = 0
    const log = { error: (details: object) => void said.push(details as { err: Error }) }
    const text = createErrorText(
      () => body,
      log,
      () => nowMs,
    )
    t.equal(text(answer, {} as never), JSON.stringify(answer))
    text(answer, {} as never)
    t.equal(said.length, 1)
    nowMs = 60_000
    text(answer, {} as never)
    t.equal(said.length, 2, 'again after a minute')
  }
})

t.test('an errorBody that is no function is an error at boot', async (t) => {
  const app = newHost(t)
  await t.rejects(async () => app.register(svcCore, { errorBody: 'json' as never }), {
    code: 'SVC_CORE_INVALID_OPTION',
    message: /"errorBody" must be a function \(error, request\) => body, or null/,
  })
})
