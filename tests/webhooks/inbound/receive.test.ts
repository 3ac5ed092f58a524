import { once } from 'node:events'
import t from 'tap'
import { hmac, type InboundSource } from '@svc/webhooks'
import { eventsOf, hostOf } from './host.ts'
import { sign } from './received.ts'

const github: InboundSource = {
  path: '/hooks/github',
  publishAs: 'github.push',
  verify: hmac({ signatureHeader: 'x-hub-signature-256', secretName: 'GITHUB', prefix: 'sha256=' }),
}
const secrets = { GITHUB: 'a key' }
const signed = (body: string | Buffer, type = 'application/json') => ({
  method: 'POST' as const,
  url: '/hooks/github',
  headers: { 'content-type': type, 'x-hub-signature-256': `sha256=${sign(body).toString('hex')}` },
  body,
})

t.test(
  'a verified body reaches the host’s subscription, with the id that the sender was told',
  async (t) => {
    const { app } = await hostOf(t, { github }, { secrets })
    const heard = new EventTarget()
    void app.svc.events.subscribe('github.push', (payload, { id }) => {
      heard.dispatchEvent(Object.assign(new Event('push'), { payload, id }))
    })
    await app.ready()
    const push = once(heard, 'push')
    const response = await app.inject(signed('{"ref":"main","n":1}'))
    t.equal(response.statusCode, 200)
    t.match(response.headers['content-type'], /^application\/json/)
    const { status, eventId, ...others } = response.json()
    t.strictSame({ status, others }, { status: 'accepted', others: {} })
    const [event] = (await push) as [Event & { payload: unknown; id: string }]
    t.strictSame(
      { payload: event.payload, id: event.id },
      { payload: { ref: 'main', n: 1 }, id: eventId },
    )
  },
)

t.test('the event is in the database before the sender is answered, byte for byte', async (t) => {
  const { app } = await hostOf(t, { github }, { secrets })
  const bodies = [
    '{"id": 12345678901234567890,"rate":1.10, "a":1,"a":"Zürich \\ud83d"}\n',
    '[]',
    'null',
  ]
  for (const body of bodies) {
    const { eventId } = (await app.inject(signed(body))).json()
    t.match(await eventsOf(app), [{ name: 'github.push', id: eventId, payload: body }])
    await app.svc.database.query('delete from svc."__svc.events"')
  }
})

t.test(
  'the host’s own parsers, errors and routes are left alone beside several sources',
  async (t) => {
    const { app } = await hostOf(
      t,
      { github, other: { path: '/hooks/other', publishAs: 'other', verify: () => true } },
      {
        secrets,
        before: (app) => {
          app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) =>
            done(null, String(body).split(',')),
          )
          app.decorateRequest('rawBody', 'the host’s own')
          app.setErrorHandler((error: Error, _request, reply) =>
            reply.code(418).send(error.message),
          )
          app.post('/echo', async (request) => request.body)
        },
      },
    )
    const echo = (type: string, body: string) =>
      app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': type }, body })
    t.strictSame((await echo('application/json', '{"a":1}')).json(), { a: 1 })
    t.strictSame((await echo('text/csv', 'a,b')).json(), ['a', 'b'])
    t.equal((await echo('application/json', '{')).statusCode, 418)
    t.equal(
      (await echo('application/x-www-form-urlencoded', 'a=1')).statusCode,
      418,
      'no such parser',
    )
    t.equal((await app.inject(signed('{"a":1}'))).statusCode, 200)
    t.equal((await app.inject({ ...signed('{'), headers: {} })).statusCode, 401, 'our error body')
    const other = {
      method: 'POST' as const,
      url: '/hooks/other',
      headers: { 'content-type': 'text/csv' },
    }
    t.equal((await app.inject({ ...other, body: 'a,b' })).statusCode, 200)
    t.match(await eventsOf(app), [
      { name: 'github.push', payload: '{"a":1}' },
      { payload: '"a,b"' },
    ])
  },
)

t.test('the functions of a source get the bytes, the text and the header lines', async (t) => {
  const bytes = Buffer.from([0x5a, 0xc3, 0xbc, 0xff])
  const seen: unknown[] = []
  const { app } = await hostOf(t, {
    own: {
      path: '/hooks/:tenant',
      publishAs: 'own',
      verify: (request, body) => {
        seen.push(
          request.rawBody,
          body,
          request.rawHeaders.filter((line) => line.startsWith('x-')),
        )
        seen.push(request.method, request.url, { ...(request.params as object) })
        return true
      },
    },
  })
  const headers = { 'x-a': ['1', '2'] }
  await app.inject({ method: 'POST', url: '/hooks/acme?x=1', headers, body: bytes })
  t.strictSame(seen, [bytes, 'ZÃ¼ÿ', ['x-a', 'x-a'], 'POST', '/hooks/acme?x=1', { tenant: 'acme' }])
})

t.test('a source cannot publish our events, whatever its function returns', async (t) => {
  const { app, log } = await hostOf(t, {
    shop: { path: '/hooks/shop', publishAs: () => 'svc.key.leaked', verify: () => true },
  })
  const answer = await app.inject({ method: 'POST', url: '/hooks/shop', payload: { keyId: 'x' } })
  t.equal(answer.statusCode, 500)
  t.match(JSON.stringify(log), /SVC_CORE_RESERVED_EVENT_NAME/)
  t.strictSame(await eventsOf(app), [])
})
