import { createServer } from 'node:http'
import { svcCore } from '@svc/core'
import { drain, signed } from '@svc/testing'
import { svcWebhooks, type SvcWebhooksOptions } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { startSvc, svc } from '../support/svc-command.ts'
import { listening } from '../support/listening.ts'
import { newHost } from '../support/new-host.ts'
import { wholeHost } from '../support/whole-host.ts'
import { openReceiver } from '../support/receiver.ts'

const KEY = 'a-bootstrap-key-of-this-test'

async function startHost(t: Test, base = '/_webhooks', options: SvcWebhooksOptions = {}) {
  const app = await wholeHost(
    t,
    {
      database: await freshDatabase(t),
      secrets: (name) => ({ KEY, GITHUB: 'of-the-host' })[name] ?? null,
    },
    {
      auth: {
        bootstrapKeySecret: 'KEY',
        webhooksManagementPaths: [base],
        excludePaths: ['/hooks/*'],
      },
      webhooks: {
        allowedEvents: ['order.created', 'order.paid', 'user.created'],
        managementBasePath: base,
        ...options,
      },
    },
  )
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

t.test('svc listen sends the events of the feed as signed deliveries', async (t) => {
  const { app, url } = await startHost(t)
  const local = await openReceiver(t)
  const args = ['listen', '--to', local.url, '--url', url, '--events', 'order.*']
  const command = startSvc(t, args, { SVC_KEY: KEY })
  const [, secret = ''] = await command.says(/WEBHOOK_SECRET=(whsec_\S+)/)
  local.secret = secret
  await command.says(/listening to/)
  await app.svc.events.publish('user.created', 0)
  await app.svc.events.publish('order.created', { id: 7 }, { id: 'o-7', tenant: 'acme' })
  const [received] = await local.waitFor(1)
  t.match(received, {
    verified: true,
    body: { event: 'order.created', payload: { id: 7 } },
    headers: { 'x-svc-event': 'order.created', 'x-svc-attempt': '1', 'x-svc-tenant': 'acme' },
  })
  t.ok(new Webhook(secret).verify(received!.raw, received!.headers as Record<string, string>))
  await command.says(/order\.created {2}o-7 {2}200 {2}\d+ ms/)

  local.answer(500)
  await app.svc.events.publish('order.paid', 1, { id: 'o-8' })
  await command.says(/order\.paid {2}o-8 {2}500/)
  await local.close()
  await app.svc.events.publish('order.paid', 1, { id: 'o-9' })
  await command.says(/order\.paid {2}o-9 {2}.*ECONNREFUSED/)
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
})

t.test('with a base path, a secret and --json', async (t) => {
  const { app, url } = await startHost(t, '/api/hooks')
  const secret = `whsec_${'A'.repeat(43)}=`
  const local = await openReceiver(t, { secret })
  const command = startSvc(
    t,
    ['listen', '--to', local.url, '--url', `${url}/api/hooks/`, '--secret', secret, '--json'],
    { SVC_KEY: KEY },
  )
  await command.says(/listening to/)
  await app.svc.events.publish('user.created', 'x', { id: 'u-1' })
  const [line] = await command.says(/^\{.*u-1.*\}$/m)
  t.match(JSON.parse(line), { event: 'user.created', id: 'u-1', answer: 200, error: null })
  t.match(local.received, [{ verified: true }])
  t.notMatch(command.printed, secret)
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
})

const SOURCES: SvcWebhooksOptions = {
  inboundLog: { rawBodies: true },
  inbound: {
    github: providers.github({ path: '/hooks/github', secretName: 'GITHUB' }),
    other: providers.github({ path: '/hooks/other', secretName: 'GITHUB' }),
  },
}

const push = (number: number, delivery: string, secret = 'of-the-host') =>
  signed('github', { ref: 'main', number }, { secret, headers: { 'x-github-delivery': delivery } })

t.test('svc listen --inbound sends what a source of the host accepts, as it came', async (t) => {
  const { app, url } = await startHost(t, '/_webhooks', SOURCES)
  const send = (path: string, ...request: Parameters<typeof push>) =>
    app.inject({ ...push(...request), url: path })
  t.equal((await send('/hooks/github', 1, 'before')).statusCode, 200)
  const local = await openReceiver(t)
  const to = new URL('/hooks/github', local.url).href
  const mistyped = ['listen', '--inbound', '--source', 'gitub', '--to', to, '--url', url]
  const waiting = startSvc(t, mistyped, { SVC_KEY: KEY })
  await waiting.says(/nothing has come to a source "gitub" lately, but to github: it is waited for/)
  waiting.interrupt()
  const args = ['listen', '--inbound', '--source', 'github', '--to', to, '--url', url]
  const command = startSvc(t, args, { SVC_KEY: KEY })
  await command.says(/listening to .*inbound/)
  await send('/hooks/github', 2, 'forged', 'another')
  await send('/hooks/other', 3, 'of-another-source')
  await send('/hooks/github', 4, 'first')
  await send('/hooks/github', 4, 'first')
  await send('/hooks/github', 5, 'second')
  const received = await local.waitFor(2)
  t.match(
    received.map(({ raw, headers }) => [
      raw,
      headers['x-github-delivery'],
      headers['x-github-event'],
    ]),
    [
      [push(4, '').payload, 'first', 'push'],
      [push(5, '').payload, 'second', 'push'],
    ],
  )
  t.equal(received[0]!.headers['x-hub-signature-256'], '***', 'a signature is not kept')
  await command.says(/github\.push {2}\S+ {2}200[^]*github\.push {2}\S+ {2}200/)
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
  t.equal(local.received.length, 2)
})

t.test('--resign signs with the secret of the local application', async (t) => {
  const { app, url } = await startHost(t, '/_webhooks', SOURCES)
  const local = newHost(t)
  const handled: unknown[] = []
  await local.register(svcCore, {
    database: await freshDatabase(t),
    secrets: (name) => (name === 'LOCAL' ? 'of-this-machine' : null),
  })
  await local.register(svcWebhooks, {
    inbound: { github: providers.github({ path: '/hooks/github', secretName: 'LOCAL' }) },
  })
  await local.svc.events.subscribe('github.push', (payload) => void handled.push(payload))
  const to = `${await local.listen({ port: 0, host: '127.0.0.1' })}/hooks/github`
  const args = ['listen', '--inbound', '--to', to, '--url', url, '--json']
  const command = startSvc(
    t,
    [...args, '--source', 'github', '--resign', 'github', '--secret', 'of-this-machine'],
    {
      SVC_KEY: KEY,
    },
  )
  await command.says(/listening to/)
  await app.inject({ ...push(7, 'd-7'), url: '/hooks/github' })
  const [line] = await command.says(/^\{.*\}$/m)
  t.match(JSON.parse(line), { source: 'github', event: 'github.push', answer: 200, error: null })
  await drain(local)
  t.match(handled, [{ number: 7 }])
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
})

t.test('without rawBodies --inbound says what the host lacks', async (t) => {
  const { app, url } = await startHost(t, '/_webhooks', { ...SOURCES, inboundLog: {} })
  const args = ['listen', '--inbound', '--to', 'http://127.0.0.1:1', '--url', url]
  const command = startSvc(t, args, { SVC_KEY: KEY })
  await command.says(/listening to/)
  await app.inject({ ...push(7, 'd-7'), url: '/hooks/github' })
  await command.says(/was not kept: set inboundLog: \{ rawBodies: true \}/)
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
})

t.test('listen says why it cannot begin', async (t) => {
  const { url } = await startHost(t)
  const to = ['--to', 'http://127.0.0.1:1/hook']
  const cases: [string[], Record<string, string>, number, RegExp][] = [
    [[...to, '--url', url], {}, 2, /SVC_KEY is not set/],
    [[...to], { SVC_KEY: KEY }, 2, /required option '--url/],
    [['--to', 'hook', '--url', url], { SVC_KEY: KEY }, 2, /--to must be a URL/],
    [[...to, '--url', 'localhost:3000'], { SVC_KEY: KEY }, 2, /--url must be a URL/],
    [[...to, '--url', url, '--events', 'none'], { SVC_KEY: KEY }, 2, /none/],
    [[...to, '--url', url], { SVC_KEY: 'another-key-of-this-test' }, 3, /key/],
    [[...to, '--url', 'http://127.0.0.1:1'], { SVC_KEY: KEY }, 3, /cannot be reached/],
    [[...to, '--url', url, '--source', 'github'], { SVC_KEY: KEY }, 2, /options of --inbound/],
    [[...to, '--url', url, '--inbound', '--events', 'a'], { SVC_KEY: KEY }, 2, /give --source/],
    [[...to, '--url', url, '--inbound', '--secret', 'x'], { SVC_KEY: KEY }, 2, /needs --resign/],
    [
      [...to, '--url', url, '--inbound', '--resign', 'github', '--secret', 'x'],
      { SVC_KEY: KEY },
      2,
      /--resign needs --source/,
    ],
    [[...to, '--url', url, '--inbound'], { SVC_KEY: KEY }, 1, /has no inbound sources/],
    [
      [...to, '--url', url, '--inbound', '--resign', 'github'],
      { SVC_KEY: KEY },
      2,
      /needs --secret/,
    ],
    [
      [...to, '--url', url, '--inbound', '--source', 'x', '--resign', 'none', '--secret', 'x'],
      { SVC_KEY: KEY },
      2,
      /there is no preset "none"/,
    ],
    [[...to, '--url', `${url}/nowhere`], { SVC_KEY: KEY }, 1, /give --url with the base path/],
  ]
  await Promise.all(
    cases.map(async ([args, env, expected, says]) => {
      const { exitCode, errors } = await svc(t, ['listen', ...args], env)
      t.equal(exitCode, expected, args.join(' '))
      t.match(errors.join('\n'), says)
    }),
  )
})

t.test('svc sink verifies deliveries, prints them and answers as it is told', async (t) => {
  const { app } = await startHost(t)
  const secret = `whsec_${'A'.repeat(43)}=`
  const command = startSvc(t, ['sink', '--port', '0', '--secret', secret, '--answer', '202'])
  const [, url = ''] = await command.says(/listening on (\S+);/)
  await app.svc.webhooks.register({ url, events: ['order.created'], secret })
  await app.svc.events.publish('order.created', { id: 7 })
  await drain(app)
  await command.says(/"order\.created" {2}"\S+" {2}verified {2}202\n {2}\{"id":7\}/)
  const forged = await fetch(url, { method: 'POST', body: '{"event":"\\u001b[2J"}' })
  t.ok([400, 401].includes(forged.status))
  await command.says(/"\\u001b\[2J" {2}null {2}not verified: /)
  t.notMatch(command.printed, /\u001B/)
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
})

t.test('without a secret sink says that it does not verify', async (t) => {
  const command = startSvc(t, ['sink', '--port', '0', '--json'])
  const [, url = ''] = await command.says(/listening on (\S+);/)
  t.equal((await fetch(url, { method: 'POST', body: 'hello' })).status, 204)
  const [line] = await command.says(/^\{.*\}$/m)
  t.match(JSON.parse(line), {
    verified: false,
    reason: /no --secret/,
    answer: 204,
    payload: 'hello',
  })
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
})

t.test('sink refuses wrong numbers, and a port that is taken', async (t) => {
  t.match(await svc(t, ['sink', '--port', 'x']), { exitCode: 2, errors: [/--port must be/] })
  t.match(await svc(t, ['sink', '--secret', 'whsec_x']), {
    exitCode: 2,
    errors: [/--secret must be/],
  })
  t.match(await svc(t, ['sink', '--answer', '99']), { exitCode: 2, errors: [/--answer must be/] })
  const port = await listening(t, createServer())
  t.match(await svc(t, ['sink', '--port', String(port)]), { exitCode: 1, errors: [/EADDRINUSE/] })
})
