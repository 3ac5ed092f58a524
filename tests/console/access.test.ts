/** The host's own login, and what a host without some plugins offers. */
import t from 'tap'
import type { Access } from '@svc/console'
import { until, untilCount } from '../support/until.ts'
import { startHost } from './support/host.ts'
import { openReceiver } from '../support/receiver.ts'

const startWith = (t: Parameters<typeof startHost>[0], access: () => unknown, rest: object = {}) =>
  startHost(t, { ...rest, console: { access: access as () => Access } })

t.test('the option access signs users in, and the audit names them', async (t) => {
  const { app, visitor, ask } = await startWith(t, async () => ({
    userId: 'ada',
    tenant: null,
    can: 'all',
  }))
  const page = visitor()
  t.match((await page.session()).body, {
    signedIn: true,
    via: 'host',
    userId: 'ada',
    operator: true,
    isAdmin: true,
    expiresAt: null,
  })
  const user = await page.call('users.create', { email: 'a@b.co', name: 'A' })
  const made = await page.call('keys.create', { userId: user.body.id, scopes: ['admin'] })
  t.equal(made.status, 200, 'an operator who can do all gives all')
  const actor = { kind: 'console', userId: 'ada', keyId: null }
  t.match(await app.svc.audit.list({ actor: 'ada' }), [
    { action: 'key.create', actor },
    { action: 'user.create', actor },
  ])
  const headers = {
    origin: 'http://console.example',
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  }
  t.match(await ask('POST', '/console/api/session', { headers, body: '{"key":"x"}' }), {
    status: 403,
    body: { code: 'SVC_CONSOLE_NO_KEY_SIGN_IN' },
  })
})

t.test('an operator who may do some things gives keys read and write', async (t) => {
  const can = ['users:write', 'keys:write']
  const { visitor } = await startWith(t, () => ({ userId: null, tenant: null, can }))
  const page = visitor()
  const user = await page.call('users.create', { email: 'a@b.co', name: 'A' })
  const userId = user.body.id
  t.equal((await page.call('keys.create', { userId })).status, 200)
  t.match(await page.call('keys.create', { userId, scopes: ['admin'] }), { status: 403 })
})

t.test('the result of access is checked: a missing field does not make an operator', async (t) => {
  let answer: unknown
  const { visitor } = await startWith(t, () => answer)
  for (const wrong of [
    { userId: 'a', can: 'all' },
    { tenant: '', can: 'all' },
    { userId: 'a'.repeat(201), tenant: null, can: 'all' },
    { userId: '\ud83d', tenant: null, can: 'all' },
    { tenant: null },
    { tenant: null, can: 'everything' },
    { tenant: null, can: ['webhooks:read', 'nothing'] },
    { tenant: null, can: 'all', userId: 7 },
    'ada',
  ]) {
    answer = wrong
    t.equal((await visitor().session()).status, 500, JSON.stringify(wrong))
    t.equal((await visitor().call('webhooks.list')).status, 500)
  }
  answer = null
  t.match((await visitor().session()).body, { signedIn: false, signIn: 'host' })
})

t.test(
  'an operator follows a portal link, and is that tenant until the session ends',
  async (t) => {
    const { app, follow } = await startWith(t, () => ({ userId: 'ada', tenant: null, can: 'all' }))
    const page = await follow(await app.svc.console.portalLink({ tenant: 'acme' }))
    t.match((await page.session()).body, { tenant: 'acme', operator: false })
    t.match((await page.end()).body, { signedIn: true, via: 'host', operator: true })
  },
)

t.test('a session goes with the login of the host under which it began', async (t) => {
  let who: object | null = null
  const { app, follow } = await startWith(t, () => who)
  const person = (userId: string | null, tenant: string | null) => ({
    userId,
    tenant,
    can: ['webhooks:read', 'webhooks:write'],
  })
  const link = (userId?: string) =>
    app.svc.console.portalLink({ tenant: 'acme', ...(userId && { userId }) })
  const rows: [
    about: string,
    login: object | null,
    userId: string | undefined,
    now: object | null,
    via: string | null,
  ][] = [
    ['the same person', person('ada', 'acme'), 'ada', person('ada', 'acme'), 'portal'],
    ['after the logout', person('ada', 'acme'), 'ada', null, null],
    ['another person', person('ada', 'acme'), 'ada', person('bob', 'acme'), 'host'],
    ['another tenant', person('ada', 'acme'), 'ada', person('ada', 'globex'), 'host'],
    [
      'an operator who looks at a portal',
      person('op', null),
      undefined,
      person('op', null),
      'portal',
    ],
    ['another operator', person('op', null), undefined, person('po', null), 'host'],
    ['nobody is signed in at all', null, 'ada', null, 'portal'],
    ['its person signs in', null, 'ada', person('ada', 'acme'), 'portal'],
    ['another person signs in', null, 'ada', person('bob', 'acme'), 'host'],
    [
      'somebody signs in where the link names nobody',
      null,
      undefined,
      person('bob', 'acme'),
      'host',
    ],
  ]
  for (const [about, login, userId, now, via] of rows) {
    who = login
    const page = await follow(await link(userId))
    t.match((await page.session()).body, { signedIn: true, via: 'portal', tenant: 'acme' }, about)
    who = now
    const { body } = await page.session()
    t.equal(body.via ?? null, via, about)
    if (via === 'host') {
      t.match(
        body,
        { tenant: (now as { tenant: string | null }).tenant, sessionId: undefined },
        about,
      )
      who = null
      t.match(
        (await page.session()).body,
        { signedIn: false },
        `${about}: the session does not come back`,
      )
    }
  }
  who = person('op', null)
  const page = await follow(await link())
  t.match(await app.svc.console.endSessions({ userId: 'op' }), { ended: 2 }, 'those that it opened')
  t.match((await page.session()).body, { via: 'host', tenant: null })
  who = person('bob', 'globex')
  await follow(await link())
  const bobs = { tenant: 'globex', userId: 'bob' }
  t.match(await app.svc.console.endSessions(bobs), { ended: 1 }, 'whosever tenant it is of')
})

t.test('the catalogue is for who sees webhooks, and for who sees events', async (t) => {
  let can = ['webhooks:read']
  const { visitor } = await startWith(t, () => ({ tenant: 'acme', can }))
  for (const right of ['webhooks:read', 'events:read']) {
    can = [right]
    const { items } = (await visitor().call('catalogue.list')).body
    t.equal(items.length, 2, right)
  }
  can = ['deliveries:read']
  t.match(await visitor().call('catalogue.list'), { status: 403 })
})

t.test('who may loosen what an operator has set on a key, the host says', async (t) => {
  let who: object | null = null
  const { app, visitor } = await startWith(t, () => who)
  const user = await app.svc.auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
  const rows: [person: object, may: boolean][] = [
    [{ tenant: 'acme', can: 'all' }, false],
    [{ tenant: 'acme', can: 'all', mayLoosen: false }, false],
    [{ tenant: 'acme', can: ['keys:write'], mayLoosen: true }, true],
    [{ tenant: null, can: ['keys:write'] }, false],
    [{ tenant: null, can: 'all' }, true],
    [{ tenant: null, can: 'all', mayLoosen: false }, false],
  ]
  for (const [person, may] of rows) {
    const quota = { limit: 5, period: 'month' } as const
    const { id } = await app.svc.auth.createApiKey({ userId: user.id, quota, enabled: false })
    who = { userId: 'ada', ...person }
    for (const fields of [{ quota: null }, { enabled: true }]) {
      const { status } = await visitor().call('keys.update', { id, ...fields })
      t.equal(status, may ? 200 : 403, JSON.stringify([person, fields]))
    }
  }
  who = { tenant: 'acme', can: 'all', mayLoosen: 'yes' }
  t.match(await visitor().session(), { status: 500 })
})

t.test('events about keys are for who may see keys', async (t) => {
  const who = {
    tenant: 'acme' as string | null,
    can: ['webhooks:read', 'webhooks:write', 'deliveries:read', 'deliveries:write', 'events:read'],
  }
  const { app, visitor, signIn, keyOf } = await startHost(t, {
    console: { access: () => who, signInWithKey: true },
  })
  const receiver = await openReceiver(t)
  const name = 'svc.key.created'
  const { id } = await app.svc.webhooks.register({
    url: receiver.url,
    events: [name],
    tenant: 'acme',
  })
  const { id: keyId } = await keyOf(['read'], 'acme')
  const [attempt] = await untilCount(1, () => app.svc.webhooks.listDeliveries(id))
  const { eventId, deliveryId } = attempt!
  const lists = [
    ['events.list', { limit: 1 }],
    ['events.list', { name, text: keyId, limit: 1 }],
    ['deliveries.list', { event: name }],
  ] as const
  const singles = [
    ['events.get', { name, id: eventId, tenant: 'acme' }],
    ['deliveries.get', { webhookId: id, deliveryId }],
    ['deliveries.redeliver', { webhookId: id, deliveryId }],
  ] as const
  const hidden = { lastSuccessAt: null, failingSince: null, waiting: 0 }
  const counted = async (page: ReturnType<typeof visitor>): Promise<number> => {
    const { body } = await page.call('stats.get', { webhookId: id, by: 'hour' })
    const points = body.points as { attempts: { delivered: number } }[]
    return points.reduce((sum, { attempts }) => sum + attempts.delivered, 0)
  }
  const url = 'https://elsewhere.example'
  const changes = [
    ['webhooks.create', { url, events: ['order.created', name] }],
    ['webhooks.update', { id, events: [name] }],
    ['webhooks.update', { id, url }],
    ['webhooks.update', { id, url, events: ['order.created'] }],
    ['webhooks.update', { id, filter: { 'payload.label': { $startsWith: 'x' } } }],
    ['webhooks.update', { id, filter: null }],
    ['deadLetters.redrive', { webhookId: id }],
    ['webhooks.recover', { id, what: 'dead', since: '2020-01-01T00:00:00Z', dryRun: true }],
    ['webhooks.recoveries', { webhookId: id }],
  ] as const

  const { key } = await keyOf(['webhooks:manage'])
  const operator = await signIn(key)
  for (const page of [visitor(), operator]) {
    for (const [call, input] of lists) {
      t.match((await page.call(call, input)).body, { items: [], next: null }, call)
    }
    for (const [call, input] of singles) t.equal((await page.call(call, input)).status, 404, call)
    for (const [call, input] of changes) {
      const answer = await page.call(call, input)
      t.match(answer, { status: 403, body: { code: 'SVC_CONSOLE_FORBIDDEN' } }, call)
      t.match(answer.body.message, /"keys:read"/)
    }
    t.match((await page.call('webhooks.update', { id, label: 'Keys' })).body, hidden)
    t.match((await page.call('webhooks.get', { id })).body, hidden)
    t.match((await page.call('webhooks.list')).body.items, [hidden])
    t.equal(await counted(page), 0)
    t.match(await page.call('webhooks.create', { url, events: name }), { status: 403 })
  }
  const elsewhere = { webhookId: id, deliveryId, url }
  t.match(await operator.call('deliveries.redeliver', elsewhere), {
    status: 403,
    body: { message: /"admin"/ },
  })
  t.match((await operator.session()).body, { operator: true, isAdmin: false })

  who.can = [...who.can, 'keys:read']
  await until(
    async () => (await visitor().call('webhooks.get', { id })).body.lastSuccessAt !== null,
  )
  await until(async () => (await counted(visitor())) === 1)
  for (const [call, input] of lists) {
    t.equal((await visitor().call(call, input)).body.items.length, 1, call)
  }
  for (const [call, input] of [...singles, ...changes]) {
    t.equal((await visitor().call(call, input)).status, 200, call)
  }
})

t.test('without a plugin its operations are not there', async (t) => {
  const everything = () => ({ userId: null, tenant: null, can: 'all' })
  const alone = await startWith(t, everything, { auth: null })
  const { can, features } = (await alone.visitor().session()).body
  t.same(features, { auth: false, webhooks: true })
  t.notOk(can.includes('keys:read'))
  t.ok(can.includes('webhooks:write'))
  t.match(await alone.visitor().call('keys.list'), { status: 404 })
  t.equal((await alone.visitor().call('tenants.list')).status, 200)
  const neither = await startWith(t, everything, { auth: null, webhooks: null })
  t.same((await neither.visitor().session()).body.features, { auth: false, webhooks: false })
  t.match(await neither.visitor().call('webhooks.list'), { status: 404 })
  t.equal((await neither.visitor().call('audit.list')).status, 200)
})
