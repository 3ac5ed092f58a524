import t from 'tap'
import { startHost } from '../support/host.ts'

const URL_ = 'https://receiver.example/hooks'
const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000'

t.test('a registration is created, shown, listed, changed and deleted', async (t) => {
  const { ask } = await startHost(t)

  const created = await ask('POST', '', { url: URL_, events: ['order.created'], label: 'Orders' })
  t.equal(created.status, 201)
  t.equal(created.headers['cache-control'], 'no-store')
  const { id, secret } = created.body
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.match(created.body, { url: URL_, events: ['order.created'], label: 'Orders', active: true })
  t.match(created.body, { createdAt: /^\d{4}-.*Z$/, updatedAt: /^\d{4}-.*Z$/ })
  const { secret: _, ...shown } = created.body

  t.same(await only(ask('GET', `/${id}`)), { status: 200, body: created.body })
  t.same(await only(ask('GET', '')), { status: 200, body: [shown] })

  const changed = await ask('PATCH', `/${id}`, { url: `${URL_}/2`, events: ['*'], label: null })
  t.equal(changed.status, 200)
  t.match(changed.body, { id, url: `${URL_}/2`, events: ['*'], label: null, active: true })
  t.notOk('secret' in changed.body)
  t.ok(changed.body.updatedAt > changed.body.createdAt)

  t.match(await ask('PATCH', `/${id}`, { active: false }), { status: 200, body: { active: false } })
  t.match(await ask('PATCH', `/${id}`, {}), { status: 200, body: { active: false, label: null } })
  t.match(await ask('PATCH', `/${id}`), { status: 200 })

  t.same(await only(ask('DELETE', `/${id}`)), { status: 204, body: undefined })
  t.equal((await ask('DELETE', `/${id}`)).status, 404)
  t.equal((await ask('GET', `/${id}`)).status, 404)
  t.same((await ask('GET', '')).body, [])
})

t.test('a label may be left out, and an event given twice counts once', async (t) => {
  const { ask } = await startHost(t)
  const events = ['order.created', 'order.created', '*']
  const { body } = await ask('POST', '', { url: URL_, events })
  t.match(body, { label: null, events: ['order.created', '*'] })
})

t.test('registering a webhook with wrong values is a 400 with the reason', async (t) => {
  const { ask, register } = await startHost(t)
  const { id } = await register(URL_)
  const right = { url: URL_, events: ['*'] }
  const cases: [object, RegExp][] = [
    [{}, /required property 'url'/],
    [{ url: URL_ }, /required property 'events'/],
    [{ ...right, url: 5 }, /body\/url must be string/],
    [{ ...right, url: 'receiver.example' }, /http or https/],
    [{ ...right, url: 'ftp://receiver.example' }, /http or https/],
    [{ ...right, url: 'https://me:pw@receiver.example' }, /credentials/],
    [{ ...right, url: `https://receiver.example/${'x'.repeat(2048)}` }, /2048/],
    [{ ...right, url: 'https://receiver.example/\ud800' }, /half of a surrogate pair/],
    [{ ...right, url: 'http://10.0.0.1/' }, /allowedNetworks/],
    [{ ...right, url: 'http://[::ffff:a9fe:a9fe]/' }, /allowedNetworks/],
    [{ ...right, events: [] }, /fewer than 1/],
    [{ ...right, events: 5 }, /must be array/],
    [{ ...right, events: ['order.lost'] }, /"order\.lost" is not allowed.*order\.created/],
    [{ ...right, events: [5] }, /must be string/],
    [{ ...right, events: Array.from({ length: 1001 }, () => '*') }, /events.* more than 1000/],
    [{ ...right, events: ['x'.repeat(201)] }, /events\/0.* more than 200/],
    [{ ...right, label: 5 }, /body\/label/],
    [{ ...right, label: 'x'.repeat(201) }, /body\/label.* more than 200/],
    [{ ...right, label: 'a\u0000b' }, /body\/label/],
    [{ ...right, active: 'yes' }, /active/],
    [{ ...right, secret: 'mine' }, /body\/secret.*fewer than 16/],
    [{ ...right, owner: 'mine' }, /additional properties.*owner/],
  ]
  for (const [body, message] of cases) {
    const answer = await ask('POST', '', body)
    t.match(answer, { status: 400, body: { statusCode: 400, error: 'Bad Request', message } })
    t.match(answer.body.code, /^SVC_/)
    if ('url' in body && 'events' in body) t.equal((await ask('PATCH', `/${id}`, body)).status, 400)
  }
  t.equal((await ask('POST', '', { ...right, active: false })).status, 400, 'not at creation')
  const longest = {
    label: 'x'.repeat(200),
    events: Array.from({ length: 1000 }, () => 'order.created'),
  }
  t.equal((await ask('POST', '', { ...right, ...longest })).status, 201)
  t.equal((await ask('POST', '')).status, 400)
  t.equal((await ask('PATCH', `/${id}`, { active: null })).status, 400)
})

t.test(
  'an id of nothing, of no UUID, or too long for the router is a 404 everywhere',
  async (t) => {
    const { ask, register } = await startHost(t)
    const { id } = await register(URL_)
    const long = [101, 1000, 5000].flatMap((length) => [
      'a'.repeat(length),
      '%61'.repeat(length),
      'a%2F'.repeat(length / 2),
    ])
    const notFound = (code: string) => ({ status: 404, body: { code } })
    for (const other of [
      UNKNOWN,
      'x',
      '42',
      encodeURIComponent("'; drop table x --"),
      '%00',
      ...long,
    ]) {
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', { label: 'x' }],
        ['DELETE', ''],
        ['GET', '/deliveries'],
        ['GET', '/dead-letters'],
        ['POST', '/test'],
        ['POST', '/redrive'],
        ['POST', '/rotate-secret'],
        ['POST', `/deliveries/${UNKNOWN}/redeliver`],
      ] as const) {
        const answer = await ask(method, `/${other}${path}`, body)
        t.match(answer, notFound('SVC_WEBHOOKS_NOT_FOUND'), `${method} ${path}`)
      }
      const delivery = await ask('POST', `/${id}/deliveries/${other}/redeliver`)
      t.match(delivery, notFound('SVC_WEBHOOKS_DELIVERY_NOT_FOUND'))
    }
    t.match((await ask('GET', `/${id}/unknown`)).body, { message: /Route GET:.* not found/ })
  },
)

t.test('another base path is served in place of the default', async (t) => {
  const { app } = await startHost(t, { managementBasePath: '/admin/hooks' })
  t.equal((await app.inject('/admin/hooks')).statusCode, 200)
  t.equal((await app.inject('/_webhooks')).statusCode, 404)
})

async function only(answer: Promise<{ status: number; body: unknown }>) {
  const { status, body } = await answer
  return { status, body }
}

t.test('a request that needs no body takes none but an empty one', async (t) => {
  const { ask, register } = await startHost(t)
  const { id } = await register('https://example.com/')
  for (const path of [`/${id}/test`, `/${id}/redrive`]) {
    t.equal((await ask('POST', path)).status, 202, path)
    t.equal((await ask('POST', path, {})).status, 202, path)
    t.match(await ask('POST', path, { unknown: 1 }), {
      status: 400,
      body: { code: 'SVC_INVALID_INPUT', message: /must NOT have additional properties/ },
    })
  }
})

t.test('a tenant has at most maxWebhooksPerTenant webhooks, also of many at once', async (t) => {
  const { app, ask } = await startHost(t, { maxWebhooksPerTenant: 2 })
  const register = (tenant: string | null) =>
    ask('POST', '', { url: 'https://receiver.example/', events: ['order.created'], tenant })
  const answers = await Promise.all([1, 2, 3, 4].map(() => register('acme')))
  t.same(answers.map(({ status }) => status).toSorted(), [201, 201, 409, 409])
  const full = { status: 409, body: { code: 'SVC_WEBHOOKS_LIMIT_REACHED' } }
  t.match(await register('acme'), full)
  t.equal((await register('globex')).status, 201, 'another tenant has its own number')
  for (let n = 0; n < 3; n++) t.equal((await register(null)).status, 201, 'the operator has none')
  const [one] = await app.svc.webhooks.list({ tenant: 'acme' })
  await app.svc.webhooks.delete(one!.id)
  t.equal((await register('acme')).status, 201)
})
