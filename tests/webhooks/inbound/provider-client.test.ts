import t from 'tap'
import type { InboundSource } from '@svc/webhooks'
import type { Receiving } from '../../../packages/webhooks/src/inbound/receive.ts'
import { registerInbound } from '../../../packages/webhooks/src/inbound/register.ts'
import { resolveSources } from '../../../packages/webhooks/src/inbound/sources.ts'
import { NotFetched } from '../../../packages/providers/src/errors.ts'
import { ProviderClient } from '../../../packages/providers/src/provider-client.ts'
import { newHost } from '../../support/new-host.ts'

interface Answer {
  statusCode: number
  body: string
}

/** A provider that answers so, on a clock of the test's own. */
function providerClientOf(answer: () => Answer | Promise<Answer>) {
  const asked: string[] = []
  const clock = { ms: 0 }
  const providerClient = new ProviderClient(
    async ({ url, method, json }) => {
      asked.push(`${method} ${url.href}${json === undefined ? '' : ` ${json}`}`)
      return answer()
    },
    () => clock.ms,
  )
  return { providerClient, asked, clock }
}

const ok = () => ({ statusCode: 200, body: 'a key' })
const hosts = ['keys.example.com', 'sns.*.amazonaws.com']
const url = 'https://keys.example.com/1'

t.test('only https URLs on the hosts of the preset are requested', async (t) => {
  const { providerClient, asked } = providerClientOf(ok)
  const others = [
    'http://keys.example.com/1',
    'https://keys.example.com:8443/1',
    'https://user@keys.example.com/1',
    'https://keys.example.com.evil.test/1',
    'https://evil.test/keys.example.com',
    'https://evil.test#keys.example.com',
    'https://sns.evil.test/.amazonaws.com',
    'https://sns.amazonaws.com/1',
    'https://sns.a.b.amazonaws.com/1',
    'https://a.sns.eu.amazonaws.com/1',
    'https://127.0.0.1/1',
    'https://[::1]/1',
    'file:///etc/passwd',
    'keys.example.com/1',
    '',
  ]
  for (const one of others) {
    await t.rejects(providerClient.text({ url: one, hosts }), { name: 'NotFetched' }, one)
    await t.rejects(providerClient.visit({ url: one, hosts }), { name: 'NotFetched' }, one)
  }
  t.strictSame(asked, [])
  const sns = 'https://SNS.eu-west-1.amazonaws.com/1'
  t.equal(await providerClient.text({ url: sns, hosts }), 'a key')
})

t.test('a fetched answer is cached for an hour, and shared by concurrent requests', async (t) => {
  const { providerClient, asked, clock } = providerClientOf(ok)
  const texts = await Promise.all([1, 2, 3].map(() => providerClient.text({ url, hosts })))
  t.strictSame(texts, ['a key', 'a key', 'a key'])
  clock.ms = 3_599_999
  await providerClient.text({ url, hosts })
  t.equal(asked.length, 1)
  clock.ms = 3_600_000
  await providerClient.text({ url, hosts })
  t.equal(asked.length, 2)
  await providerClient.text({ url, hosts, json: '{"kid":"a"}' })
  await providerClient.text({ url, hosts, json: '{"kid":"b"}' })
  t.strictSame(asked.slice(2), [`POST ${url} {"kid":"a"}`, `POST ${url} {"kid":"b"}`])
})

t.test('a failed request to a provider is not repeated for a minute', async (t) => {
  const { providerClient, asked, clock } = providerClientOf(() => ({ statusCode: 404, body: '' }))
  await t.rejects(providerClient.text({ url, hosts }), { name: 'NotFetched' })
  await t.rejects(providerClient.text({ url, hosts }), { name: 'NotFetched' })
  t.equal(asked.length, 1)
  clock.ms = 60_001
  await t.rejects(providerClient.text({ url, hosts }), { name: 'NotFetched' })
  t.equal(asked.length, 2)
})

t.test(
  'while the provider is unavailable an answer of the last day is used, and not renewed',
  async (t) => {
    let answer = ok
    const { providerClient, asked, clock } = providerClientOf(() => answer())
    await providerClient.text({ url, hosts })
    answer = () => ({ statusCode: 503, body: '' })
    clock.ms = 2 * 3_600_000
    t.equal(await providerClient.text({ url, hosts }), 'a key')
    const error = await providerClient.text({ url: `${url}0`, hosts }).catch((one: Error) => one)
    t.notOk(error instanceof NotFetched, 'the sender is to try again')
    t.equal(asked.length, 3)
    clock.ms = 26 * 3_600_000
    const message = 'keys.example.com answered 503'
    await t.rejects(providerClient.text({ url, hosts }), { message })
  },
)

t.test('forged addresses displace no answer that is used, and no request for it', async (t) => {
  const { providerClient, asked, clock } = providerClientOf(() =>
    asked.at(-1) === `GET ${url}` ? ok() : { statusCode: 404, body: '' },
  )
  const forge = async (minute: number) => {
    for (let n = 0; n < 60; n++) {
      const forged = { url: `${url}?${minute}-${n}`, hosts }
      await t.rejects(providerClient.text(forged), { name: 'NotFetched' })
    }
  }
  t.equal(await providerClient.text({ url, hosts }), 'a key')
  for (let minute = 1; minute <= 10; minute++) {
    clock.ms = minute * 60_000
    await forge(minute)
  }
  t.equal(await providerClient.text({ url, hosts }), 'a key')
  t.equal(asked.filter((one) => one === `GET ${url}`).length, 1)
  clock.ms = 3_600_000
  await forge(60)
  t.equal(await providerClient.text({ url, hosts }), 'a key')
  t.equal(asked.filter((one) => one === `GET ${url}`).length, 2)
})

t.test('a confirmation returns whether the provider accepted it, uncached', async (t) => {
  let statusCode = 200
  const { providerClient, asked } = providerClientOf(() => ({ statusCode, body: '' }))
  t.equal(await providerClient.visit({ url, hosts }), true)
  statusCode = 302
  t.equal(await providerClient.visit({ url, hosts }), false)
  t.equal(asked.length, 2)
})

t.test('all that wait for a document get the former answer while it is away', async (t) => {
  let answer: () => Promise<Answer> = async () => ok()
  const { providerClient, clock } = providerClientOf(() => answer())
  await providerClient.text({ url, hosts })
  const away = Promise.withResolvers<Answer>()
  answer = () => away.promise
  clock.ms = 2 * 3_600_000
  const texts = [1, 2, 3].map(() => providerClient.text({ url, hosts }))
  away.reject(new Error('connection refused'))
  t.strictSame(await Promise.all(texts), ['a key', 'a key', 'a key'])
})

t.test('what requests to one source name uses up no fetch of another source or host', async (t) => {
  const fetched: string[] = []
  const providerClient = new ProviderClient(async ({ url }) => {
    fetched.push(url.hostname)
    return ok()
  })
  const fetching = (path: string): InboundSource => ({
    path,
    publishAs: 'a',
    verify: async (request, _body, _secret, client) =>
      (await client!.text({ url: String(request.headers['x-url']), hosts })) !== '',
  })
  const sources = resolveSources({ one: fetching('/one'), other: fetching('/other') })
  const bus = { publish: async () => [{ id: 'e', duplicate: false }] }
  const core = { svc: { secrets: { get: async () => null } }, bus } as unknown as Receiving['core']
  const app = newHost(t)
  registerInbound(app, sources, { core, providerClient, log: null, bodyLimitBytes: 1000 })
  const send = async (path: string, named: string) =>
    (await app.inject({ method: 'POST', url: path, headers: { 'x-url': named } })).statusCode
  for (let n = 0; n < 60; n++) t.equal(await send('/one', `${url}?forged=${n}`), 200)
  t.equal(await send('/one', `${url}?forged=60`), 500, 'its own are used up')
  t.equal(await send('/other', url), 200)
  t.equal(await send('/one', 'https://sns.eu-west-1.amazonaws.com/1'), 200)
  for (let n = 0; n < 59; n++) await send('/one', `https://sns.forged-${n}.amazonaws.com/1`)
  t.equal(fetched.length, 60 + 2 + 59)
  t.equal(
    await send('/one', 'https://sns.forged-60.amazonaws.com/1'),
    500,
    'one pattern, one budget',
  )
})
