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
        const needs =
          typeof rule.period === 'number'
            ? []
            : Array.from({ length: upTo(3) }, () => ({ cost: 1 + upTo(6), times: 1 + upTo(2) }))
        return { rule, want: upTo(4), needs, ahead: upTo(20), held: upTo(2), returns }
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
  const request = { rule, want: 2, needs: [], ahead: 0, held: 0, returns: [] }
  const batch = { holder: HOLDERS[0] as string, lateMs: 5, requests: [request] }
  const [first] = await takeAllowances(app.svc.database, batch)
  const [second] = await takeAllowances(app.svc.database, batch)
  t.match(first, { granted: 2, used: 2 })
  t.match(second, { granted: 1, used: 3 })
  t.ok((second?.retryMs ?? 0) > 50_000)
})

const RULE = { subject: 'key:a', period: 1, limit: 5 } as const
const REQUEST: AllowanceRequest = { rule: RULE, want: 5, needs: [], ahead: 0, held: 0, returns: [] }
const HOUR = 3_600_000

t.test('a grant counts for a window after its use, also where the clock is set back', async (t) => {
  const { app } = await startHost(t)
  const take = async (now: number) => {
    const batch = { holder: HOLDERS[0] as string, lateMs: 2000, requests: [REQUEST] }
    const [answer] = await takeAllowances(app.svc.database, batch, now)
    return answer?.granted
  }
  t.equal(await take(START), 5)
  // Its requests may be admitted until two seconds later: they are in the window for one more.
  t.equal(await take(START - HOUR), 0)
  t.equal(await take(START - HOUR + 2900), 0)
  t.equal(await take(START - HOUR + 3100), 5)
})

t.test('what is given back after it has left the window reduces no later grant', async (t) => {
  const { app } = await startHost(t)
  const take = async (fields: Partial<AllowanceRequest>, now: number) => {
    const batch = { holder: HOLDERS[0] as string, lateMs: 5, requests: [{ ...REQUEST, ...fields }] }
    const [answer] = await takeAllowances(app.svc.database, batch, now)
    return answer as Answer
  }
  const { stamp } = await take({ want: 2 }, START)
  t.match(await take({}, START + 1100), { granted: 5, used: 5 })
  const late = await take({ returns: [{ stamp, count: 2 }] }, START + 1200)
  t.match(late, { granted: 0, used: 5 })
})

const QUOTA = { subject: 'key:a', period: 'total', limit: 20 } as const
const quotaRequest = (fields: Partial<AllowanceRequest>): AllowanceRequest => ({
  ...REQUEST,
  rule: QUOTA,
  ...fields,
})

t.test('of a quota each request gets all that it needs, or nothing', async (t) => {
  const { app } = await startHost(t)
  const take = async (fields: Partial<AllowanceRequest>) => {
    const batch = { holder: HOLDERS[0] as string, lateMs: 5, requests: [quotaRequest(fields)] }
    const [answer] = await takeAllowances(app.svc.database, batch)
    return answer as Answer
  }
  const need = (cost: number, times = 1) => ({ cost, times })
  t.match(await take({ needs: [need(21)], ahead: 20 }), { granted: 0, ahead: 0, used: 0 })
  t.match(await take({ needs: [need(3, 2), need(4)], ahead: 20 }), { granted: 10, ahead: 1 })
  t.match(await take({ needs: [need(10), need(2, 9), need(1, 9)] }), { granted: 9, used: 20 })
  t.match(await take({ needs: [need(5)], held: 5 }), { granted: 0 }, 'it holds as many')
  const stamp = 0
  t.match(await take({ returns: [{ stamp, count: 5 }] }), { granted: 0, used: 15 })
  t.match(await take({ needs: [need(8)], held: 3 }), { granted: 5, used: 20 })
  t.match(await take({ needs: [need(1)] }), { granted: 0, used: 20 })
})
