import t from 'tap'
import type { Answer, AllowanceRequest } from '../../../packages/auth/src/tables/allowance-terms.ts'
import { takeAllowances } from '../../../packages/auth/src/tables/allowances.ts'
import { startHost } from '../support/host.ts'
import { Ledger } from '../support/ledger.ts'
import { seededRandom } from '../support/random.ts'

const HOLDERS = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
const START = Date.UTC(2030, 0, 31, 23, 59, 0)

t.test('Postgres grants what the model of it grants', async (t) => {
  const { app } = await startHost(t)
  const random = seededRandom(7)
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  const ledger = new Ledger()
  const rules = [
    { subject: 'key:a', period: 1, limit: 5 },
    { subject: 'key:a', period: 60, limit: 100 },
    { subject: 'tenant:b', period: 10, limit: 1000 },
    { subject: 'tenant:b', period: 1800, limit: 1000 },
    { subject: 'tenant:b', period: 86_400, limit: 5000 },
    { subject: 'key:c', period: 'day', limit: 300 },
    { subject: 'key:d', period: 'month', limit: 40 },
    { subject: 'key:d', period: 'total', limit: 60 },
  ] as const
  const stamps = new Map<string, number[]>()
  let now = START
  for (let turn = 0; turn < 300; turn++) {
    // Now and then the clock is set back or forward.
    now += turn % 50 === 49 ? upTo(60_000) - 30_000 : upTo(900)
    const holder = HOLDERS[upTo(2)] as string
    const requests = rules
      .filter(() => random() < 0.5)
      .map((rule): AllowanceRequest => {
        const known = stamps.get(`${rule.subject}/${rule.period}`) ?? []
        const stamp = known[upTo(known.length - 1)]
        const returns = stamp === undefined || random() < 0.7 ? [] : [{ stamp, count: 1 + upTo(2) }]
        return { rule, want: upTo(4), ahead: upTo(20), held: upTo(2), returns }
      })
    const lateMs = 5 + upTo(20)
    const answers = await takeAllowances(app.svc.database, { holder, lateMs, requests }, now)
    const expected = requests.map((request) => ledger.take(request, { holder, lateMs, now }))
    t.same(answers.map(rounded), expected.map(rounded), `turn ${turn}`)
    for (const [index, { rule }] of requests.entries()) {
      const id = `${rule.subject}/${rule.period}`
      stamps.set(id, [...(stamps.get(id) ?? []), answers[index]?.stamp ?? 0].slice(-5))
    }
    if (!t.passing()) return
  }
})

/** Postgres counts times in microseconds. */
const rounded = (answer: Answer): Answer => ({
  ...answer,
  validMs: answer.validMs && Math.round(answer.validMs),
  retryMs: answer.retryMs && Math.round(answer.retryMs),
})

t.test('Postgres decides by its own clock where none is passed in', async (t) => {
  const { app } = await startHost(t)
  const rule = { subject: 'key:a', period: 60, limit: 3 } as const
  const request = { rule, want: 2, ahead: 0, held: 0, returns: [] }
  const batch = { holder: HOLDERS[0] as string, lateMs: 5, requests: [request] }
  const [first] = await takeAllowances(app.svc.database, batch)
  const [second] = await takeAllowances(app.svc.database, batch)
  t.match(first, { granted: 2, used: 2 })
  t.match(second, { granted: 1, used: 3 })
  t.ok((second?.retryMs ?? 0) > 50_000)
})
