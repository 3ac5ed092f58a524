/** The stream that tells a page that something changed. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../support/until.ts'
import { startHost, type Host } from './support/host.ts'

/** Listens over real HTTP, as `inject` would wait for the end of the answer. */
async function listen(t: Test, { app }: Host, cookie: string) {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  // Not `fetch`: where a stream is aborted it opens another connection, for which a host that closes waits.
  const asked = request({
    host: '127.0.0.1',
    port,
    path: '/console/api/live',
    headers: { cookie },
    agent: false,
  }).end()
  t.teardown(() => asked.destroy())
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const heard = { text: '', hasEnded: false }
  answer.setEncoding('utf8').on('data', (text: string) => (heard.text += text))
  answer.on('error', () => {}).on('close', () => (heard.hasEnded = true))
  const hears = (type: string) =>
    until(
      async () => heard.text,
      (text) => text.includes(`data: {"type":"${type}"}`),
    )
  return { answer, heard, hears }
}

t.test('a page hears what changes within the reach and the rights of its session', async (t) => {
  const host = await startHost(t)
  const { app } = host
  const page = await host.signIn()
  const operator = await listen(t, host, page.cookie)
  t.match(operator.answer.headers['content-type'], 'text/event-stream')
  t.equal(operator.answer.headers['cache-control'], 'no-store')
  const link = await app.svc.console.portalLink({ tenant: 'acme' })
  const tenant = await listen(t, host, (await host.follow(link)).cookie)
  await until(() => operator.heard.text !== '')

  const register = (tenant: string | null) =>
    app.svc.webhooks.register({ url: 'https://a.example/', events: ['*'], tenant })
  // What changes before the first look is no change: it is made again until it is heard.
  await until(
    async () => {
      await register('globex')
      return operator.heard.text
    },
    (text) => text.includes('"webhooks"') && text.includes('"audit"'),
  )
  t.notOk(tenant.heard.text.includes('data:'), 'another tenant is nothing to this one')
  await until(
    async () => {
      await register('acme')
      return tenant.heard.text
    },
    (text) => text.includes('"webhooks"'),
  )
  t.notOk(tenant.heard.text.includes('"audit"'), 'it may not read the audit')

  await page.end()
  await operator.hears('session')
  await until(() => operator.heard.hasEnded)
  t.notOk(tenant.heard.hasEnded)
})

t.test('the stream of a page ends with its session, whichever process ended it', async (t) => {
  const host = await startHost(t)
  const other = await startHost(t, { database: host.database })
  const follow = async (userId: string) =>
    host.follow(await host.app.svc.console.portalLink({ tenant: 'acme', userId }))
  const ada = await listen(t, host, (await follow('ada')).cookie)
  const bob = await listen(t, host, (await follow('bob')).cookie)
  t.same(await other.app.svc.console.endSessions({ userId: 'ada' }), { ended: 1 })
  await ada.hears('session')
  await until(() => ada.heard.hasEnded)
  t.notOk(bob.heard.hasEnded)
})

t.test('the stream of a page ends when the login of the host is that of another', async (t) => {
  const ada = { userId: 'ada', tenant: 'acme' as string | null, can: ['webhooks:read'] }
  const changes: (typeof ada | null)[] = [
    null,
    { ...ada, userId: 'bob' },
    { ...ada, tenant: 'globex' },
  ]
  let who: typeof ada | null = ada
  const host = await startHost(t, { console: { access: () => who } })
  for (const change of changes) {
    who = ada
    const page = await listen(t, host, '')
    t.equal(page.answer.statusCode, 200)
    who = change
    await page.hears('session')
  }
})

t.test('nobody listens without a session, and a host that closes ends the streams', async (t) => {
  const host = await startHost(t)
  t.equal((await host.ask('GET', '/console/api/live')).status, 401)
  const page = await host.signIn()
  const foreign = { cookie: page.cookie, origin: 'https://evil.example' }
  t.equal((await host.ask('GET', '/console/api/live', { headers: foreign })).status, 403)
  const stream = await listen(t, host, page.cookie)
  await host.app.close()
  await until(() => stream.heard.hasEnded)
  t.match(stream.heard.text, '"session"')
})

/** A look that nothing stirs comes after ten. */
const SOON_MS = 6000

t.test('what another process changes is heard long before the next look', async (t) => {
  const host = await startHost(t)
  const other = await startHost(t, { database: host.database, console: null })
  const stream = await listen(t, host, (await host.signIn()).cookie)
  const users = () => stream.heard.text.split('"users"').length
  let n = 0
  const change = () => other.app.svc.auth.createUser({ email: `${++n}@example.com`, name: 'User' })
  // What changes before the first look is no change: it is made again until it is heard.
  await until(
    async () => {
      await change()
      return users() > 1
    },
    Boolean,
    500,
  )

  const took: number[] = []
  for (let turn = 0; turn < 6; turn++) {
    const [heard, began] = [users(), performance.now()]
    await change()
    await until(users, (times) => times > heard)
    took.push(performance.now() - began)
  }
  // In the seconds after the sign-in, looks are many. Later each change follows a look, so that
  // without being heard it would wait for the next one, ten seconds.
  t.ok(Math.min(...took.slice(3)) < SOON_MS, `${took.map(Math.round).join(', ')} ms`)
})
