// promise: No window exceeds a limit by more than the stated bounds, whatever happens to processes; steps of the clock have bounds of their own
import t from 'tap'
import { LimiterModel, type ModelOptions } from '../support/limiter-model.ts'

const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1)
const rule = (limit: number, period: number) => ({ subject: 'key:a', period, limit })

const run = (options: ModelOptions): LimiterModel => {
  const model = new LimiterModel(options)
  model.run()
  return model
}

/** By `n` processes: `limit` and a tenth of it, and `limit` alone up to 10. */
const bound = (limit: number): number => (limit <= 10 ? limit : limit + Math.floor(limit / 10))

const TROUBLE = {
  killsPerSecond: 0.2,
  pausesPerSecond: 0.2,
  lostShare: 0.02,
  delayMs: 400,
  stepsMs: [-3_600_000, -40, -3000],
}

const LIMITS: [limit: number, perSeconds: number, everyMs: number][] = [
  [1, 1, 80],
  [5, 1, 30],
  [10, 2, 40],
  [11, 1, 20],
  [15, 1, 10],
  [100, 5, 8],
  [500, 10, 4],
]

for (const [limit, period, everyMs] of LIMITS) {
  t.test(`no span of ${period} s has more than ${limit} requests, whatever happens`, async (t) => {
    for (const seed of SEEDS) {
      const rules = [rule(limit, period)]
      const model = run({ seed, rules, processes: 4, forMs: 40_000, everyMs, ...TROUBLE })
      const { passed, over } = model.decisions
      const name = `seed ${seed}: ${passed} passed, ${over} were over`
      t.ok(passed > limit && over > 0, name)
      t.ok(model.most(period * 1000) <= bound(limit), `${name}: ${model.most(period * 1000)}`)
      for (const id of model.processIds) t.ok(model.most(period * 1000, id) <= limit)
    }
  })
}

for (const [limit, period, everyMs, forMs] of [
  [30, 150, 900, 900_000],
  [300, 300, 500, 900_000],
  [2000, 600, 200, 900_000],
  // Longer holds.
  [200, 1800, 4000, 7_200_000],
  [500, 3600, 4000, 10_800_000],
] as const) {
  t.test(
    `what a process holds is renewed: no span of ${period} s has more than ${limit} requests`,
    async (t) => {
      for (const seed of SEEDS) {
        const rules = [rule(limit, period)]
        const trouble = { ...TROUBLE, killsPerSecond: 0.02, pausesPerSecond: 0.02 }
        const model = run({ seed, rules, processes: 4, forMs, everyMs, ...trouble })
        const { passed, over } = model.decisions
        const name = `seed ${seed}: ${passed} passed, ${over} were over`
        t.ok(passed > limit * 0.8 && over > 0, name)
        t.ok(model.most(period * 1000) <= bound(limit), `${name}: ${model.most(period * 1000)}`)
        for (const id of model.processIds) t.ok(model.most(period * 1000, id) <= limit)
      }
    },
  )
}

t.test('a key that is used twice a minute or more hardly ever waits for a statement', async (t) => {
  for (const everyMs of [500, 5000, 30_000]) {
    const rules = [rule(100_000, 3600)]
    const model = run({
      seed: 1,
      rules,
      processes: 1,
      forMs: 3 * 3_600_000,
      everyMs,
      isSteady: true,
    })
    // After a pause of more than 100 s what was held may have ended.
    t.ok(model.waited <= 25, `every ${everyMs} ms: ${model.waited} waited`)
    t.equal(model.decisions.passed, model.admissions.length)
    t.equal(model.decisions.over + model.decisions.unavailable, 0)
  }
})

t.test('a request passes all limits', async (t) => {
  for (const seed of SEEDS) {
    const rules = [rule(5, 1), rule(40, 15), { subject: 'tenant:b', period: 10, limit: 30 }]
    const model = run({ seed, rules, processes: 3, forMs: 60_000, everyMs: 20, ...TROUBLE })
    for (const { limit, period } of rules) t.ok(model.most(period * 1000) <= bound(limit))
    t.ok(model.decisions.passed > 60, `${model.decisions.passed} passed`)
  }
})

for (const [high, low, period, everyMs, forMs] of [
  [6, 3, 2, 40, 40_000],
  [100, 40, 5, 8, 40_000],
  [40, 15, 10, 40, 40_000],
  // What a process holds of either limit is renewed.
  [300, 100, 300, 500, 900_000],
] as const) {
  t.test(
    `two keys with the limits ${high} and ${low} share a count, and each keeps its own`,
    async (t) => {
      const keys = { rules: [rule(high, period)], successor: { rules: [rule(low, period)] } }
      const options = { ...keys, processes: 4, forMs, everyMs }
      const trouble = forMs > 40_000 ? { killsPerSecond: 0.02, pausesPerSecond: 0.02 } : {}
      let passedOfSuccessor = 0
      for (const seed of SEEDS) {
        const model = run({ seed, ...options, ...TROUBLE, ...trouble })
        const { passed, over } = model.decisions
        const name = `seed ${seed}: ${passed} passed, ${over} were over`
        t.ok(passed > high * 0.8 && over > 0, name)
        t.ok(model.most(period * 1000) <= bound(high), `${name}: ${model.most(period * 1000)}`)
        for (const id of model.processIds) t.ok(model.most(period * 1000, id) <= high)
        const { ofOneProcess, ofAll } = model.mostOfSuccessor(period * 1000)
        t.ok(ofOneProcess <= low, `${name}: ${ofOneProcess} of one process`)
        t.ok(ofAll <= bound(low), `${name}: ${ofAll} of the successor`)
        passedOfSuccessor += ofAll
      }
      t.ok(passedOfSuccessor > 0)
      const calm = run({ seed: 1, ...options })
      t.equal(calm.decisions.unavailable, 0)
      t.ok(
        calm.statements <= calm.waited * 2 + forMs / 100,
        `${calm.statements} statements, ${calm.waited} waited`,
      )
    },
  )
}

t.test('one process gets nearly all of a limit', async (t) => {
  for (const [limit, period] of LIMITS) {
    const everyMs = (period * 1000) / limit / 10
    const rules = [rule(limit, period)]
    const forMs = period * 20_000
    const model = run({ seed: 1, rules, processes: 1, forMs, everyMs, isSteady: true })
    const { passed, unavailable } = model.decisions
    t.equal(unavailable, 0)
    t.ok(passed >= limit * 20 * 0.9, `${passed} of ${limit * 20}`)
    t.ok(model.most(period * 1000) <= limit)
  }
})

t.test('four processes together get nearly all of it', async (t) => {
  for (const [limit, period] of LIMITS) {
    const everyMs = (period * 1000) / limit / 10
    const rules = [rule(limit, period)]
    const forMs = period * 20_000
    const model = run({ seed: 1, rules, processes: 4, forMs, everyMs, isSteady: true })
    const { passed } = model.decisions
    t.ok(passed >= limit * 20 * 0.85, `${passed} of ${limit * 20}`)
  }
})

t.test(
  'where the clock of Postgres is set forward, each process still keeps the limit',
  async (t) => {
    for (const seed of SEEDS) {
      const rules = [rule(20, 5)]
      const stepsMs = [60_000, 3_600_000, 5000]
      const model = run({ seed, rules, processes: 3, forMs: 40_000, everyMs: 20, stepsMs })
      for (const id of model.processIds) t.ok(model.most(5000, id) <= 20)
      // The windows before and after each step can be used up.
      t.ok(model.most(5000) <= 22 * 4)
    }
  },
)

t.test('a slow Postgres delays requests, and takes little of a limit', async (t) => {
  for (const [limit, period] of LIMITS) {
    const everyMs = (period * 1000) / limit / 10
    const rules = [rule(limit, period)]
    const options = { seed: 1, rules, processes: 1, forMs: period * 20_000, everyMs, delayMs: 100 }
    const { passed } = run({ ...options, isSteady: true }).decisions
    t.ok(passed >= limit * 20 * 0.5, `${passed} of ${limit * 20}`)
  }
})

t.test('two keys share a quota, and each keeps its own', async (t) => {
  const quotaOf = (limit: number) => ({ subject: 'key:a', period: 'total', limit }) as const
  const keys = { rules: [], quota: quotaOf(1000), successor: { rules: [], quota: quotaOf(400) } }
  for (const seed of SEEDS) {
    const model = run({ seed, ...keys, processes: 4, forMs: 60_000, everyMs: 20, ...TROUBLE })
    t.ok(model.decisions.passed <= 1000, `${model.decisions.passed} passed`)
    const { ofOneProcess, ofAll } = model.mostOfSuccessor(Infinity)
    t.ok(ofOneProcess <= 400 && ofAll > 0 && ofAll <= 400, `${ofAll} of the successor`)
    // As many are admitted without trouble, and none has to wait for long.
    const calm = run({ seed, ...keys, processes: 4, forMs: 60_000, everyMs: 20 })
    t.ok(calm.decisions.passed >= 950, `${calm.decisions.passed} passed`)
    t.equal(calm.decisions.unavailable, 0)
  }
})

t.test('a quota is never exceeded, also when a process is killed', async (t) => {
  const quota = { subject: 'key:a', period: 'total', limit: 1000 } as const
  for (const seed of SEEDS) {
    const trouble = { ...TROUBLE, stepsMs: [-3_600_000, 86_400_000] }
    const options = { seed, rules: [], quota, processes: 4, forMs: 60_000, everyMs: 20 }
    const model = run({ ...options, ...trouble })
    t.ok(model.decisions.passed <= 1000, `${model.decisions.passed} passed`)
    const calm = run(options)
    t.ok(calm.decisions.passed <= 1000 && calm.decisions.passed >= 950, `${calm.decisions.passed}`)
    const dear = run({ ...options, cost: 5 })
    t.ok(dear.decisions.passed <= 200 && dear.decisions.passed >= 180, `${dear.decisions.passed}`)
  }
})
