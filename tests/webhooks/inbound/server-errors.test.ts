import t from 'tap'
import type { InboundSource, Verify } from '@svc/webhooks'
import { eventsOf, hostOf } from './host.ts'
import { body, errorBody, good, post, refusals, secrets, source } from './one-source.ts'
import { sign } from './received.ts'

const failed = errorBody(500, 'SVC_WEBHOOKS_INBOUND_FAILED', 'Internal Server Error', /try again/)

t.test('a secret that is not set, or empty, is a 500 until it is set', async (t) => {
  const host = await hostOf(t, { a: source }, { secrets: { KEY: null } })
  for (const empty of [null, '']) {
    host.secrets['KEY'] = empty
    for (const signature of [sign(body, ' ').toString('hex'), good, '']) {
      const response = await post(host, { 'x-signature': signature })
      t.match(response.json(), failed)
    }
  }
  t.match(refusals(host)[0], {
    level: 50,
    source: 'a',
    reason: 'the secret KEY is not set or empty',
  })
  host.secrets['KEY'] = secrets.KEY
  t.equal((await post(host, { 'x-signature': good })).statusCode, 200)
})

t.test('a function of the host that throws is a 500, and its error is logged', async (t) => {
  const boom = (): never => {
    throw new RangeError('boom')
  }
  const functions: Partial<InboundSource>[] = [
    { verify: boom },
    { verify: async () => boom() },
    { verify: () => true, deduplicationKey: boom },
    { verify: () => true, deduplicationKey: () => 5 as never },
    { verify: () => true, respond: boom },
  ]
  for (const own of functions) {
    const host = await hostOf(t, { a: { ...source, ...own } })
    const response = await post(host, {})
    t.match(response.json(), failed)
    t.notMatch(response.body, 'boom')
    t.match(refusals(host), [
      { level: 50, source: 'a', reason: /^boom$|must return a string or null/ },
    ])
    t.match(refusals(host)[0]?.['stack'], /server-errors\.test\.ts|deduplication-key\.ts/)
    t.strictSame(await eventsOf(host.app), [])
  }
})

t.test('an error that quotes a secret is logged without its words', async (t) => {
  const verify: Verify = (_request, _body, secret) => Boolean(JSON.parse(secret('KEY') ?? ''))
  const host = await hostOf(t, { a: { ...source, verify } }, { secrets })
  t.match((await post(host, {})).json(), failed)
  t.match(refusals(host), [{ reason: /^SyntaxError: its message is withheld/ }])
  t.notMatch(JSON.stringify(host.log), 'whsec_a')
})

t.test(
  'a verify function whose secrets are all missing is a 500, also where it returns true',
  async (t) => {
    const verify: Verify = (_request, _body, secret) => secret('NONE') === null
    const host = await hostOf(t, { a: { ...source, verify } }, { secrets })
    t.match((await post(host, {})).json(), failed)
    t.match(refusals(host), [{ reason: 'the secret NONE is not set or empty' }])
  },
)
