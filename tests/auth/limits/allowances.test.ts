// promise: No window exceeds a limit by more than the stated bounds, whatever happens to processes; steps of the clock have bounds of their own
import t from 'tap'
import type { Svc } from '../../../packages/core/src/index.ts'
import {
  takeAllowances,
  type Answer,
  type Batch,
  type Demand,
  type Place,
} from '../../../packages/auth/src/tables/allowances.ts'
import { startHost } from '../support/host.ts'
import { Ledger } from '../support/ledger.ts'
import { seededRandom } from '../support/random.ts'

const HOLDERS = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
const START = Date.UTC(2030, 0, 31, 23, 59, 0)
const HOUR = 3_600_000

const RULES = [
  { subject: 'key:a', period: 1, limit: 5 },
  { subject: 'key:a', period: 60, limit: 100 },
  { subject: 'tenant:b', period: 10, limit: 1000 },
  { subject: 'tenant:b', period: 1800, limit: 1000 },
  { subject: 'tenant:b', period: 86_400, limit: 5000 },
  { subject: 'key:c', period: 'day', limit: 300 },
  { subject: 'key:d', period: 'month', limit: 40 },
  { subject: 'key:d', period: 'total', limit: 60 },
  { subject: 'tenant:e', period: 'day', periods: ['day', 'month'], limit: 90 },
  { subject: 'tenant:e', period: 'month', periods: ['day', 'month'], limit: 200 },
] as const

t.test('Postgres allots what the model of it allots', async (t) => {
  const { app } = await startHost(t)
  const random = seededRandom(7)
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  const ledger = new Ledger()
  const stamps = new Map<string, number[]>()
  let now = START
  let passes = 0
  let refusals = 0
  for (let turn = 0; turn < 400; turn++) {
    // Now and then the clock is set back or forward.
    now += turn % 50 === 49 ? upTo(60_000) - 30_000 : upTo(900)
    const rules = RULES.filter(() => random() < 0.5)
    const demanded = new Set<number>()
    const demands = Array.from({ length: upTo(3) }, (): Demand => {
      const on = rules.flatMap((rule, place) => {
        if (random() < 0.5) return []
        demanded.add(place)
        // Keys that share a limit can have a lower one.
        return [{ place, limit: upTo(1) === 0 ? rule.limit : 3, reserved: upTo(1) }]
      })
      const needs = Array.from({ length: 1 + upTo(2) }, () => ({ cost: upTo(6), times: upTo(3) }))
      return { on, needs }
    }).filter(({ on }) => on.length > 0)
    const places = rules.map((rule, place): Place => {
      const known = stamps.get(`${rule.subject}/${rule.period}`) ?? []
      const stamp = known[upTo(known.length - 1)]
      const returned = stamp === undefined || random() < 0.7 ? 0 : 1 + upTo(2)
      const used = { ahead: upTo(2) * upTo(10), held: 2 + upTo(2), returned, stamp: stamp ?? 0 }
      return { ...rule, demanded: demanded.has(place), ...used }
    })
    const batch: Batch = { holder: HOLDERS[upTo(2)]!, lateMs: 5 + upTo(20), places, demands }
    const answer = await takeAllowances(app.svc.database, batch, now)
    t.same(rounded(answer), rounded(ledger.take(batch, now)), `turn ${turn}`)
    if (!t.passing()) return
    for (const [index, { subject, period }] of places.entries()) {
      const id = `${subject}/${period}`
      stamps.set(id, [...(stamps.get(id) ?? []), answer.places[index]!.stamp ?? 0].slice(-5))
    }
    for (const [n, { needs }] of demands.entries()) {
      passes += answer.passed[n]!.reduce((sum, count) => sum + count, 0)
      refusals += needs.filter(({ times }, m) => answer.passed[n]![m]! < times).length
    }
  }
  t.ok(passes > 100 && refusals > 100, `${passes} passed, ${refusals} needs were not served whole`)
})

t.test('what a tenant uses of one quota counts for the periods of its other plans', async (t) => {
  const { app } = await startHost(t)
  const periods = ['day', 'month', 'total'] as const
  const take = async (period: (typeof periods)[number], at: number, given: Partial<Place>) => {
    const place = { subject: 'tenant:a', period, periods, limit: 1000, demanded: false, held: 0 }
    const asked: Place = { ...place, ahead: 0, returned: 0, stamp: 0, ...given }
    const batch = { holder: HOLDERS[0]!, lateMs: 5, places: [asked], demands: [] }
    return (await takeAllowances(app.svc.database, batch, at)).places[0]!
  }
  const counts = async (at: number) => {
    const used: number[] = []
    for (const period of periods) used.push((await take(period, at, {})).used)
    return used
  }
  const noon = Date.UTC(2030, 4, 7, 12)
  const midnight = Date.UTC(2030, 4, 8)
  const ofDay = await take('day', noon, { ahead: 30 })
  const ofMonth = await take('month', noon, { ahead: 12 })
  t.strictSame(await counts(noon), [42, 42, 42])
  await take('month', noon, { returned: 2, stamp: ofMonth.stamp })
  t.strictSame(await counts(noon), [40, 40, 40])

  t.strictSame(await counts(midnight), [0, 40, 40], 'a new day')
  await take('total', midnight, { ahead: 5 })
  t.strictSame(await counts(midnight), [5, 45, 45])
  await take('month', midnight, { returned: 10, stamp: ofMonth.stamp })
  t.strictSame(await counts(midnight), [5, 35, 35], 'given back of the day before')
  await take('day', midnight, { returned: 30, stamp: ofDay.stamp })
  t.strictSame(await counts(midnight), [5, 5, 5])
  t.strictSame(await counts(Date.UTC(2030, 5, 8)), [0, 0, 5], 'a new month')
})

/** Postgres counts times in microseconds. */
const rounded = ({ passed, places }: Answer): Answer => ({
  passed,
  places: places.map((place) => ({
    ...place,
    stamp: place.stamp ?? 0,
    validMs: place.validMs && Math.round(place.validMs),
    retryMs: place.retryMs && Math.round(place.retryMs),
  })),
})

const LIMIT: Place = {
  subject: 'key:a',
  period: 1,
  limit: 5,
  demanded: true,
  ahead: 0,
  held: 0,
  returned: 0,
  stamp: 0,
}
const QUOTA: Place = { ...LIMIT, period: 'total', limit: 20 }

/** Asks for requests that are on all these places. Returns how many pass of each need, and the answers. */
async function ask(
  { svc }: { svc: Svc },
  places: Place[],
  needs: [cost: number, times: number, reserved?: number][],
  { now = null, lateMs = 5 }: { now?: number | null; lateMs?: number } = {},
) {
  const demands = needs.map(([cost, times, reserved = 0]) => ({
    on: places.map(({ limit }, place) => ({ place, limit, reserved })),
    needs: [{ cost, times }],
  }))
  const batch = { holder: HOLDERS[0]!, lateMs, places, demands }
  const { passed, places: answers } = await takeAllowances(svc.database, batch, now)
  return { passed: passed.flat(), answers }
}

t.test('Postgres decides by its own clock where none is passed in', async (t) => {
  const { app } = await startHost(t)
  const place = { ...LIMIT, period: 60, limit: 3 }
  const first = await ask(app, [place], [[1, 2]])
  const second = await ask(app, [place], [[1, 2]])
  t.match(first, { passed: [2], answers: [{ used: 2 }] })
  t.match(second, { passed: [1], answers: [{ used: 3 }] })
  t.ok((second.answers[0]!.retryMs ?? 0) > 50_000)
})

t.test(
  'an allotment counts for a window after its use, also where the clock is set back',
  async (t) => {
    const { app } = await startHost(t)
    const passedAt = async (now: number) =>
      (await ask(app, [LIMIT], [[1, 5]], { now, lateMs: 2000 })).passed
    t.same(await passedAt(START), [5])
    // Its requests may be admitted until two seconds later: they are in the window for one more.
    t.same(await passedAt(START - HOUR), [0])
    t.same(await passedAt(START - HOUR + 2900), [0])
    t.same(await passedAt(START - HOUR + 3100), [5])
  },
)

t.test('what is given back after it has left the window reduces no later allotment', async (t) => {
  const { app } = await startHost(t)
  const { answers } = await ask(app, [LIMIT], [[1, 2]], { now: START })
  const { stamp } = answers[0]!
  t.match(await ask(app, [LIMIT], [[1, 5]], { now: START + 1100 }), { passed: [5] })
  const given = { ...LIMIT, returned: 2, stamp }
  const late = await ask(app, [given], [[1, 1]], { now: START + 1200 })
  t.match(late, { passed: [0], answers: [{ used: 5 }] })
})

t.test('what is given back leaves older allotments as they are', async (t) => {
  const { app } = await startHost(t)
  const place = { ...LIMIT, period: 60, limit: 100 }
  const at = (seconds: number) => ({ now: START + seconds * 1000 })
  t.match(await ask(app, [place], [[1, 10]], at(0)), { answers: [{ used: 10 }] })
  const ahead = await ask(app, [{ ...place, ahead: 10 }], [[1, 5]], at(30))
  t.match(ahead, { passed: [5], answers: [{ ahead: 10, used: 25 }] })
  const given = { ...place, returned: 10, stamp: ahead.answers[0]!.stamp }
  t.match(await ask(app, [given], [], at(31)), { answers: [{ used: 15 }] })
  t.match(await ask(app, [place], [], at(61)), { answers: [{ used: 5 }] })
})

t.test('of a quota each request gets all that it needs, or nothing', async (t) => {
  const { app } = await startHost(t)
  const askFor = (
    fields: Partial<Place>,
    ...needs: [cost: number, times: number, reserved?: number][]
  ) => ask(app, [{ ...QUOTA, ...fields }], needs)
  t.match(await askFor({}, [21, 1]), { passed: [0], answers: [{ ahead: 0, used: 0 }] })
  t.match(await askFor({ ahead: 20 }, [3, 2], [4, 1]), { passed: [2, 1], answers: [{ ahead: 1 }] })
  t.match(await askFor({}, [10, 1], [2, 9], [1, 9]), {
    passed: [0, 4, 1],
    answers: [{ used: 20 }],
  })
  t.match(await askFor({ held: 5 }, [5, 1, 5]), { passed: [1], answers: [{ used: 20 }] })
  t.match(await askFor({ returned: 5, stamp: 0 }), { answers: [{ used: 15 }] })
  t.match(await askFor({ held: 3 }, [8, 1, 3]), { passed: [1], answers: [{ used: 20 }] })
  t.match(await askFor({}, [1, 1]), { passed: [0], answers: [{ used: 20 }] })
})

t.test('what one limit or the quota refuses takes nothing of the others', async (t) => {
  const { app } = await startHost(t)
  const others = [{ ...LIMIT, period: 60, limit: 50 }, QUOTA]
  const { passed, answers } = await ask(app, [LIMIT, ...others], [[3, 9]])
  t.same(passed, [5])
  t.same(
    answers.map(({ used }) => used),
    [5, 5, 15],
  )
  const next = await ask(app, [LIMIT, ...others], [[3, 9]])
  t.same(next.passed, [0])
  t.same(
    next.answers.map(({ used }) => used),
    [5, 5, 15],
  )
})

t.test('what is only looked at makes no row', async (t) => {
  const { app } = await startHost(t)
  const look = { demanded: false, returned: 3, stamp: 5 }
  await ask(
    app,
    [
      { ...LIMIT, ...look },
      { ...QUOTA, ...look },
    ],
    [],
  )
  const { rows } = await app.svc.database.query(
    `select (select count(*) from svc."__svc.auth.windows")
          + (select count(*) from svc."__svc.auth.quotas") as rows`,
  )
  t.equal(Number(rows[0].rows), 0)
})
