import sensible from '@fastify/sensible'
import { Type } from '@sinclair/typebox'
import createError from '@fastify/error'
import { ErrorBody, managementApi } from '@svc/core/internal'
import { repeatedName } from '../../../packages/core/src/http/repeated-name.ts'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

const Taken = createError('SVC_TEST_TAKEN', 'that name is taken', 409)
const Item = Type.Object(
  { name: Type.String(), size: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
)

/** An API of items, whose handler does what the test says. */
async function host(
  t: Test,
  app: FastifyInstance = Fastify(),
  act: () => unknown = () => ({ name: 'made', hash: 'secret' }),
) {
  t.teardown(() => app.close())
  await managementApi(app, '/_items', (api) => {
    const response = {
      201: Type.Object({ name: Type.String() }),
      '4xx': ErrorBody,
      '5xx': ErrorBody,
    }
    api.post('/', { schema: { body: Item, response } }, async (_request, reply) => {
      void reply.code(201)
      return act()
    })
    api.delete('/:id', { schema: { response: { '4xx': ErrorBody } } }, async (_request, reply) =>
      reply.code(204).send(),
    )
  })
  return app
}

const post = (app: FastifyInstance, payload: string, type = 'application/json') =>
  app.inject({ method: 'POST', url: '/_items', payload, headers: { 'content-type': type } })

t.test('a response holds what its schema declares, and nothing else', async (t) => {
  const reply = await post(await host(t), '{"name":"a"}')
  t.equal(reply.statusCode, 201)
  t.strictSame(reply.json(), { name: 'made' })
})

const refused: [
  title: string,
  payload: string,
  status: number,
  code: string,
  message: string,
  type?: string,
][] = [
  ['a number for a name', '{"name":5}', 400, 'SVC_INVALID_INPUT', 'body/name must be string'],
  [
    'an unknown field',
    '{"name":"a","color":1}',
    400,
    'SVC_INVALID_INPUT',
    'body must NOT have additional properties ("color")',
  ],
  [
    'a name that stands twice in a body',
    '{"name":"a","size":1,"n\\u0061me":"b"}',
    400,
    'SVC_INVALID_INPUT',
    'body must have each name once, but has "n\\u0061me" twice',
  ],
  ...['{"name":"a","__proto__":{}}', '{"name":"a","constructor":{"prototype":{}}}'].map(
    (body): (typeof refused)[number] => [
      `a body with a forbidden name, ${body},`,
      body,
      400,
      'SVC_INVALID_INPUT',
      'body must have no field "__proto__", and no field "constructor" with a field "prototype"',
    ],
  ),
  ['no body', '', 400, 'SVC_INVALID_INPUT', 'body must be object'],
  [
    'a body that is no JSON',
    '{',
    400,
    'SVC_INVALID_INPUT',
    '', // the words are Fastify's, or in its first versions those of JSON.parse
  ],
  [
    'a form',
    'name=a',
    415,
    'SVC_UNSUPPORTED_MEDIA_TYPE',
    'the content type is not supported: send JSON, with the header Content-Type: application/json',
    'application/x-www-form-urlencoded',
  ],
]
for (const [title, payload, statusCode, code, message, type] of refused) {
  t.test(`${title} is refused`, async (t) => {
    const reply = await post(await host(t), payload, type)
    t.equal(reply.statusCode, statusCode)
    t.match(reply.json(), {
      statusCode,
      code,
      error: statusCode === 400 ? 'Bad Request' : 'Unsupported Media Type',
    })
    t.ok(reply.json<{ message: string }>().message.startsWith(message), reply.body)
  })
}

t.test('a name is repeated only within one object', (t) => {
  for (const [json, repeated] of [
    ['{"a":1,"b":{"a":2},"c":[{"a":"a"},{"a":"{\\"a\\":1,\\"a\\":2}"},"a","a"]}', undefined],
    ['{"a":{"b":[{"c":1,"c" :2}]}}', '"c"'],
    ['[{"a":[],"":{},"a\\\\":1},{"":1, "":1}]', '""'],
    ['{"__proto__":1,"constructor":2,"__proto__"\n:3}', '"__proto__"'],
    ['"a"', undefined],
    ['5', undefined],
  ] as const) {
    t.equal(repeatedName(json), repeated, json)
  }
  t.end()
})

t.test('a body that is too large is refused', async (t) => {
  const reply = await post(await host(t, Fastify({ bodyLimit: 10 })), '{"name":"a longer name"}')
  t.match(reply.json(), { statusCode: 413, code: 'SVC_PAYLOAD_TOO_LARGE' })
})

t.test('an error of ours keeps its code, and an unexpected error shows no details', async (t) => {
  const errors = [
    new Taken(),
    Object.assign(new Error('select secret'), { code: '42601' }),
    Object.assign(new Error('stop'), { code: '57P01' }),
  ]
  const app = await host(t, Fastify(), () => {
    throw errors.shift()!
  })
  t.strictSame((await post(app, '{"name":"a"}')).json(), {
    statusCode: 409,
    code: 'SVC_TEST_TAKEN',
    error: 'Conflict',
    message: 'that name is taken',
  })
  t.strictSame((await post(app, '{"name":"a"}')).json(), {
    statusCode: 500,
    code: 'SVC_INTERNAL',
    error: 'Internal Server Error',
    message: 'something went wrong, see the log',
  })
  const away = await post(app, '{"name":"a"}')
  t.equal(away.headers['retry-after'], '1')
  t.strictSame(away.json(), {
    statusCode: 503,
    code: 'SVC_UNAVAILABLE',
    error: 'Service Unavailable',
    message: 'the database is starting or shutting down, try again',
  })
})

t.test('an empty body with a JSON content type counts as no body', async (t) => {
  const app = await host(t)
  const headers = { 'content-type': 'application/json' }
  const reply = await app.inject({ method: 'DELETE', url: '/_items/1', headers })
  t.equal(reply.statusCode, 204)
})

t.test("the host's validator, parsers and error handler are left alone", async (t) => {
  const app = Fastify()
  app.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  app.post('/host', { schema: { body: Item } }, async ({ body }) => body)
  await host(t, app)
  const payload = { name: 5, color: 1 }
  t.strictSame((await app.inject({ method: 'POST', url: '/host', payload })).json(), { name: '5' })
  t.equal((await app.inject({ method: 'POST', url: '/host', payload: {} })).body, 'mine')
})

t.test("the host's serializers and validator do not reach our answers", async (t) => {
  const app = Fastify()
  app.setReplySerializer(() => 'theirs')
  app.setSerializerCompiler(() => () => 'theirs')
  app.setValidatorCompiler(() => () => true)
  await host(t, app)
  const made = await app.inject({ method: 'POST', url: '/_items', payload: { name: 'a' } })
  t.strictSame(made.json(), { name: 'made' })
  const refused = await app.inject({ method: 'POST', url: '/_items', payload: { name: 5 } })
  t.match(refused.json(), { statusCode: 400, code: 'SVC_INVALID_INPUT' })
})

t.test('a host may register @fastify/sensible at its root, before or after', async (t) => {
  for (const isBefore of [true, false]) {
    const app = Fastify()
    if (isBefore) await app.register(sensible)
    await host(t, app)
    if (!isBefore) await app.register(sensible)
    await managementApi(app, '/_others', (api) => {
      api.get('/', async () => [])
    })
    t.equal((await post(app, '{}')).statusCode, 400)
  }
})
