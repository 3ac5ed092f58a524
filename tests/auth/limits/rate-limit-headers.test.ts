import t from 'tap'
import { MeterRegistry } from '../../../packages/auth/src/limits/meter-registry.ts'
import {
  rateLimit,
  rateLimitLabels,
  rateLimitPolicy,
} from '../../../packages/auth/src/limits/rate-limit-headers.ts'

t.test('each limit and the quota is a member of both fields', (t) => {
  const rules = [
    { subject: 'key:a', period: 1, limit: 5 },
    { subject: 'tenant:b', period: 60, limit: 100 },
  ]
  const quota = { subject: 'key:a', period: 'month', limit: 1000 } as const
  const set = new MeterRegistry().setOf(rules, quota, 0)
  t.equal(
    rateLimitPolicy(set),
    '"5-per-1s";q=5;w=1, "tenant-100-per-60s";q=100;w=60, "quota-month";q=1000',
  )
  const labels = rateLimitLabels(set)
  t.equal(
    rateLimit(set, labels, 0),
    '"5-per-1s";r=5, "tenant-100-per-60s";r=100, "quota-month";r=1000',
  )
  const [meter] = set.meters
  const request = meter?.request(1, 'holder', 0)
  const answer = { granted: 1, ahead: 0, stamp: 5, used: 2, validMs: 1000, retryMs: 700 }
  const sending = { sentAt: 0, lateMs: 5, holder: 'holder', now: 1 }
  meter?.apply(request!, { ...answer, othersHold: 0 }, sending)
  meter?.take(1, 1)
  t.match(rateLimit(set, labels, 200), /^"5-per-1s";r=3;t=1, /, 'another process has used one')
  t.end()
})

t.test('of two limits for one period the stricter one holds', (t) => {
  const rules = [100, 5, 20].map((limit) => ({ subject: 'key:a', period: 60, limit }))
  const { meters } = new MeterRegistry().setOf(rules, null, 0)
  t.same(
    meters.map(({ rule }) => rule.limit),
    [5],
  )
  t.end()
})

t.test('a key that was cached before its meters were dropped shares those of today', (t) => {
  const registry = new MeterRegistry()
  const rule = { subject: 'tenant:b', period: 60, limit: 100 }
  const [cached, other] = [registry.setOf([rule], null, 0), registry.setOf([rule], null, 0)]
  registry.drop(cached.meters[0]!)
  registry.revive(cached, 1)
  registry.revive(other, 1)
  t.equal(cached.meters[0], other.meters[0])
  t.equal(registry.size, 1)
  t.end()
})
