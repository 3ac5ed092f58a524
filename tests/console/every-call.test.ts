// promise: No route, and no call of the console, gives one tenant access to another
// promise: No operation runs without a session that has its right, and no change is taken from another origin
/** Every operation of the console: with a session that lacks its right, and with another tenant's ids. */
import t, { type Test } from 'tap'
import type { Access } from '@svc/console'
import { CALLS } from '../../packages/console/src/calls/calls.ts'
import type { CallName, Right } from '../../packages/console/src/contract.ts'
import { RIGHTS } from '../../packages/console/src/rights.ts'
import { untilCount } from '../support/until.ts'
import { ATTACKS, SECRET, type Victim } from './support/attacks.ts'
import { FROM_PAGE, startHost, type Host } from './support/host.ts'
import { openReceiver } from '../support/receiver.ts'

const NAMES = Object.keys(CALLS) as CallName[]

/** A host whose login is a header. */
const startOpen = (t: Test) =>
  startHost(t, {
    console: {
      access: ({ headers }) => JSON.parse(String(headers['x-who'] ?? 'null')) as Access | null,
      signInWithKey: true,
    },
    webhooks: {
      inboundLog: { rawBodies: true },
      inbound: {
        sender: {
          path: '/hook',
          publishAs: 'order.created',
          verify: () => true,
          tenant: () => 'acme',
        },
      },
    },
    auth: { excludePaths: ['/hook'] },
  })

const callAs = ({ visitor }: Host, who: Access | null, name: CallName, input: unknown) =>
  visitor().call(name, input, { 'x-who': JSON.stringify(who) })

/** All that a tenant may have, with a delivery, a key, and a session. */
async function makeVictim(t: Test, { app, keyOf, signIn }: Host): Promise<Victim> {
  const receiver = await openReceiver(t)
  const { webhooks } = app.svc
  const { id: webhookId } = await webhooks.register({
    url: receiver.url,
    events: ['*'],
    tenant: 'acme',
    label: SECRET,
  })
  await app.inject({ method: 'POST', url: '/hook', payload: { note: SECRET } })
  const [attempt] = await untilCount(1, () => webhooks.listDeliveries(webhookId))
  const [request] = await untilCount(1, () => webhooks.listInbound())
  const { id: keyId, key } = await keyOf(['admin'], 'acme')
  const { userId } = await app.svc.auth.getApiKey(keyId)
  await signIn(key)
  const { rows } = await app.svc.database.query('select id from svc."__svc.console.sessions"')
  return {
    webhookId,
    deliveryId: attempt!.deliveryId,
    eventId: attempt!.eventId!,
    requestId: request!.id,
    userId,
    keyId,
    sessionId: rows[0].id,
  }
}

t.test('no operation is there for a session without its right, or without a session', async (t) => {
  const host = await startOpen(t)
  const victim = Object.fromEntries(
    ['webhookId', 'deliveryId', 'eventId', 'requestId', 'userId', 'keyId', 'sessionId'].map(
      (name) => [name, '0190a1b2-0000-7000-8000-000000000000'],
    ),
  ) as unknown as Victim
  for (const name of NAMES) {
    const input = ATTACKS[name][0](victim)
    const { right, orRight } = CALLS[name]
    const others = RIGHTS.filter((other) => other !== right && other !== orRight)
    for (const tenant of [null, 'acme']) {
      const answer = await callAs(host, { userId: 'eve', tenant, can: others }, name, input)
      t.match(answer, { status: 403, body: { code: 'SVC_CONSOLE_FORBIDDEN' } }, name)
      t.match(answer.body.message, right)
    }
    t.match(await callAs(host, null, name, input), { status: 401 }, name)
  }
})

t.test('a session with the right to read cannot change anything', async (t) => {
  const host = await startOpen(t)
  for (const name of NAMES) {
    const { right, changes } = CALLS[name]
    t.equal(changes && right.endsWith(':read'), false, `${name} changes something`)
    if (!changes) continue
    const answer = await callAs(host, { tenant: null, can: 'read' }, name, {})
    t.match(answer, { status: 403, body: { code: 'SVC_CONSOLE_FORBIDDEN' } }, name)
  }
})

t.test('no operation reaches another tenant', async (t) => {
  const host = await startOpen(t)
  const { app } = host
  const victim = await makeVictim(t, host)
  const state = async () => ({
    // A delivery and a use that were before are written a moment later.
    webhook: { ...(await app.svc.webhooks.get(victim.webhookId)), lastSuccessAt: null },
    user: await app.svc.auth.getUser(victim.userId),
    key: { ...(await app.svc.auth.getApiKey(victim.keyId)), lastUsedAt: null },
  })
  const before = await state()
  for (const name of NAMES) {
    const [input, isRefused] = ATTACKS[name]
    for (const can of ['all', [CALLS[name].right]] satisfies (string | Right[])[]) {
      const who = { userId: 'eve', tenant: 'globex', can } as Access
      const answer = await callAs(host, who, name, input(victim))
      t.ok(isRefused(answer, victim), `${name}: ${answer.status} ${answer.text}`)
    }
  }
  t.same(await state(), before, 'nothing of it has changed')
  const { rows } = await app.svc.database.query('select 1 from svc."__svc.console.sessions"')
  t.equal(rows.length, 1)
})

t.test('an operator reaches the rows that are attacked', async (t) => {
  const host = await startOpen(t)
  const victim = await makeVictim(t, host)
  const reading = NAMES.filter((name) => !CALLS[name].changes)
  for (const name of reading) {
    const input = ATTACKS[name][0](victim)
    const answer = await callAs(host, { tenant: null, can: 'all' }, name, input)
    t.equal(answer.status, 200, `${name}: ${answer.text}`)
  }
  for (const name of ['webhooks.list', 'deliveries.list', 'events.list', 'users.list'] as const) {
    const input = name === 'events.list' ? { name: 'order.created' } : {}
    const own = await callAs(host, { tenant: 'acme', can: 'all' }, name, input)
    t.equal(own.body.items.length, 1, name)
  }
})

t.test('changes are taken from pages of the console alone', async (t) => {
  const host = await startOpen(t)
  const who = JSON.stringify({ tenant: null, can: 'all' })
  const send = (name: CallName, headers: Record<string, string | undefined>) =>
    host.ask('POST', `/console/api/${name}`, {
      headers: { ...FROM_PAGE, 'x-who': who, ...headers },
      body: '{}',
    })
  const foreign: Record<string, string | undefined>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://console.example.evil.example' },
    { origin: 'http://console.example:8080' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ]
  const refused = { status: 403, body: { code: 'SVC_CONSOLE_FOREIGN_ORIGIN' } }
  for (const name of NAMES) {
    for (const headers of foreign) t.match(await send(name, headers), refused, name)
    const isForm = { 'content-type': 'application/x-www-form-urlencoded' }
    t.equal((await send(name, isForm)).status, 415, name)
    t.equal((await send(name, { 'content-type': 'text/plain' })).status, 415, name)
    if (!CALLS[name].changes) continue
    t.match(await send(name, { origin: undefined }), refused, name)
    t.match(await send(name, { 'sec-fetch-site': undefined }), refused, name)
  }
  for (const path of ['session', 'session/end']) {
    const answer = await host.ask('POST', `/console/api/${path}`, {
      headers: { ...FROM_PAGE, origin: 'https://evil.example' },
      body: '{"key":"x"}',
    })
    t.match(answer, refused)
  }
})
