import { Readable } from 'node:stream'
import t from 'tap'
import { MeterRegistry } from '../../../packages/auth/src/limits/meter-list.ts'
import { rateLimit, retryAfterSeconds } from '../../../packages/auth/src/guard/limit-check.ts'
import { startHost } from '../support/host.ts'
import { LimiterStage } from '../support/limiter-stage.ts'

t.test('each limit and the quota is a member of both fields', (t) => {
  const rules = [
    { subject: 'key:a', period: 1, limit: 5 },
    { subject: 'tenant:b', period: 60, limit: 100 },
  ]
  const quota = { subject: 'key:a', period: 'month', limit: 1000 } as const
  const list = new MeterRegistry().listOf(rules, quota)!
  t.equal(
    list.terms.policy,
    '"5-per-1s";q=5;w=1, "tenant-100-per-60s";q=100;w=60, "quota-month";q=1000',
  )
  t.equal(rateLimit(list, 0), '"5-per-1s";r=5, "tenant-100-per-60s";r=100, "quota-month";r=1000')
  const { meter } = list
  const place = meter.ask(true, 0, 1)
  meter.admit(5, 1)
  const answer = { ahead: 0, stamp: 5, used: 2, validMs: null, retryMs: 700 }
  meter.apply(place, answer, 0, 1)
  t.match(rateLimit(list, 200), /^"5-per-1s";r=3;t=1, /, 'another process has used one')
  t.end()
})

t.test('a key that was cached before its meters were dropped shares those of today', (t) => {
  const registry = new MeterRegistry()
  const rule = { subject: 'tenant:b', period: 60, limit: 100 }
  const listed = () => registry.listOf([rule], null)!
  const [cached, other] = [listed(), listed()]
  registry.drop(cached.meter)
  registry.revive(cached)
  registry.revive(other)
  t.equal(cached.meter, other.meter)
  t.equal(registry.size, 1)
  t.end()
})

t.test('Retry-After of a quota is the end of its period, however late it is written', (t) => {
  const DAY = 86_400
  for (const [period, seconds] of [
    ['day', DAY],
    // The model begins on January 15.
    ['month', 17 * DAY],
    ['total', undefined],
  ] as const) {
    const stage = new LimiterStage()
    const host = stage.start('host')
    const list = host.listOf([], { subject: 'key:a', period, limit: 2 })
    const from = stage.now
    t.same(host.ask(list, list), ['passed', 'passed'])
    const refusing = host.askFor(list, 1)
    t.equal(refusing, list)
    // Until then the process remembers the refusal, and asks Postgres again after it.
    stage.pass(200)
    const passed = Math.floor((stage.now - from) / 1000)
    const expected = seconds && seconds - passed
    t.equal(retryAfterSeconds(list, list, stage.now), expected, period)
  }
  t.end()
})

t.test('each answer to a limited key has both fields, whatever it is', async (t) => {
  const { ask, makeKey } = await startHost(t, {
    after(app) {
      app.get('/stream', (_request, reply) => reply.send(Readable.from(['some'])))
      app.get('/broken', () => {
        throw new Error('broken')
      })
    },
  })
  const { key } = await makeKey({ limits: [{ limit: 5, perSeconds: 60 }] })
  const forwarded = { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/stream' }
  for (const [path, status, left] of [
    ['/stream', 200, 4],
    ['/broken', 500, 3],
    ['/nowhere', 404, 2],
    ['/_auth/users', 403, 2],
    ['/_auth/forward-auth', 204, 1],
    ['/_auth/me', 200, 0],
    ['/stream', 429, 0],
  ] as const) {
    const answer = await ask('GET', path, { key, headers: forwarded })
    t.equal(answer.status, status, path)
    t.equal(answer.headers['ratelimit-policy'], '"5-per-60s";q=5;w=60', path)
    t.match(answer.headers['ratelimit'], new RegExp(`^"5-per-60s";r=${left};t=\\d+$`), path)
  }
})
