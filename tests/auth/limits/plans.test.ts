import t from 'tap'
import { PlanUnknown, type Plan } from '@svc/auth'
import { Plans, type PlanOf } from '../../../packages/auth/src/limits/plans.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Plans of a host, whose answers and whose time the test decides. */
function plansWith(plans: Record<string, Plan>, planOf: PlanOf) {
  const clock = { now: 1000 }
  const asked: string[] = []
  const warnings: object[] = []
  const made = new Plans({
    plans,
    planOf(tenant) {
      asked.push(tenant)
      return planOf(tenant)
    },
    log: { info() {}, warn: (details) => void warnings.push(details) },
    now: () => clock.now,
  })
  return {
    plans: made,
    asked,
    warnings,
    nameOf: async (tenant: string) => (await made.of(tenant)).name,
    /** Lets time pass, as the sweeps of a process see it. */
    pass: (ms: number) => {
      clock.now += ms
      made.sweep()
    },
  }
}

const free: Plan = { maxKeys: 1 }
const pro: Plan = { maxKeys: 10 }
const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test(
  'the plan of a tenant is asked for once a minute, by all its requests together',
  async (t) => {
    const { nameOf, plans, asked, pass } = plansWith({ free, pro }, async (tenant) =>
      tenant === 'acme' ? 'pro' : 'free',
    )
    t.same(await Promise.all(['acme', 'acme', 'globex'].map(nameOf)), ['pro', 'pro', 'free'])
    t.same(asked, ['acme', 'globex'])
    const known = plans.of('acme')
    t.notOk(known instanceof Promise, 'it is known at once')
    pass(MINUTE - 1500)
    await nameOf('acme')
    t.equal(asked.length, 2)
    pass(1500)
    t.equal((await known).isCurrent, false)
    t.equal(await plans.of('acme'), await known, 'keys go on with what they have')
    t.same(asked, ['acme', 'globex', 'acme'])
  },
)

t.test('null is the plan "default" where there is one, else no plan', async (t) => {
  const without = plansWith({ pro }, () => null)
  t.match(await without.plans.of('acme'), { name: null, plan: {} })
  const withDefault = plansWith({ default: free }, () => null)
  t.match(await withDefault.plans.of('acme'), { name: 'default', plan: free })
})

t.test(
  'a plan that has changed is asked for again, also where it was just being asked for',
  async (t) => {
    const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    let questions = 0
    const { nameOf, plans } = plansWith({ free, pro }, () => answers[questions++]!.promise)
    const name = nameOf('acme')
    await settled()
    plans.forget('acme')
    answers[0]!.resolve('free')
    answers[1]!.resolve('pro')
    t.equal(await name, 'pro')
    const before = await plans.of('acme')
    plans.forget('acme')
    t.equal(before.isCurrent, false)
    plans.forget('nobody')
  },
)

t.test(
  'without an answer the last one holds for an hour, and the host is asked again after a second',
  async (t) => {
    let isAway = false
    const { nameOf, asked, pass, warnings } = plansWith({ free, pro, default: free }, async () => {
      if (isAway) throw new Error('away')
      return 'pro'
    })
    t.equal(await nameOf('acme'), 'pro')
    isAway = true
    pass(MINUTE)
    for (let n = 0; n < 3; n++) t.equal(await nameOf('acme'), 'pro')
    t.equal(asked.length, 2, 'not again within a second')
    pass(1000)
    t.equal(await nameOf('acme'), 'pro')
    t.equal(asked.length, 3)
    await settled()
    pass(HOUR - MINUTE - 1001)
    t.equal(await nameOf('acme'), 'pro')
    await settled()
    pass(2)
    t.equal(await nameOf('acme'), 'default')
    isAway = false
    pass(1000)
    await nameOf('acme')
    await settled()
    t.equal(await nameOf('acme'), 'pro')
    t.match(warnings, [{ tenant: 'acme', reason: 'away' }, { tenant: 'acme' }])
    t.equal(warnings.length, 2, 'one line a minute')
  },
)

t.test('where nothing stands in for an answer, the plan is not known', async (t) => {
  let isAway = true
  const { nameOf, plans, asked, pass } = plansWith({ pro }, async () => {
    if (isAway) throw new Error('away')
    return 'pro'
  })
  await t.rejects(nameOf('acme'), new PlanUnknown())
  await t.rejects(nameOf('acme'), new PlanUnknown())
  t.equal(asked.length, 1)
  isAway = false
  await t.rejects(nameOf('acme'), new PlanUnknown(), 'it is asked again after a second')
  pass(1000)
  t.equal(await nameOf('acme'), 'pro')
  isAway = true
  plans.forget('acme')
  await t.rejects(nameOf('acme'), new PlanUnknown(), 'a plan that has changed stands in for none')
  isAway = false
  plans.forget('acme')
  t.equal(await nameOf('acme'), 'pro', 'and a change is no reason to wait')
})

t.test('a name that is no plan is no answer', async (t) => {
  const answers: unknown[] = [
    'gold',
    'constructor',
    '__proto__',
    '',
    undefined,
    5,
    {},
    ['pro'],
    true,
  ]
  for (const answer of answers) {
    const { nameOf, warnings } = plansWith({ pro }, () => answer as string)
    await t.rejects(nameOf('acme'), new PlanUnknown(), String(answer))
    t.match(warnings, [{ tenant: 'acme', reason: /^planOf named / }])
  }
  const thrown = plansWith({ pro }, () => {
    // oxlint-disable-next-line typescript/only-throw-error, no-throw-literal -- the function is the host's
    throw 'away'
  })
  await t.rejects(thrown.nameOf('acme'), new PlanUnknown())
})

t.test('once all may have changed, all are asked for, and the last ones stand in', async (t) => {
  let isAway = false
  const { nameOf, plans, asked } = plansWith({ pro }, async () => {
    if (isAway) throw new Error('away')
    return 'pro'
  })
  await Promise.all(['acme', 'globex'].map(nameOf))
  plans.forgetAll()
  isAway = true
  t.same(await Promise.all(['acme', 'globex'].map(nameOf)), ['pro', 'pro'])
  t.equal(asked.length, 4)
})

t.test('however often a plan changes, requests wait no longer than for two answers', async (t) => {
  // Each change comes while the host is being asked: the answer may be of before.
  const { nameOf, plans, asked, pass } = plansWith({ pro }, async () => {
    await settled()
    pass(700)
    if (asked.length < 20) plans.forget('acme')
    return 'pro'
  })
  await t.rejects(nameOf('acme'), new PlanUnknown())
  t.equal(asked.length, 3, 'no question begins after two seconds')
  await t.rejects(nameOf('acme'), new PlanUnknown())
  t.equal(asked.length, 3, 'the next one begins a second later')
})
