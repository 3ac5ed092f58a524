/** When a process gives back what it holds of a key that is hardly used. */
import t from 'tap'
import { LimiterStage } from '../support/limiter-stage.ts'

const quota = { subject: 'key:a', period: 'total', limit: 100 } as const

t.test('a process whose requests are refused gives its portion of a quota back', (t) => {
  const stage = new LimiterStage()
  const [here, there] = [stage.start('here'), stage.start('there')]
  const list = here.listOf([], quota)
  t.equal(here.askFor(list, 1), 'passed')
  stage.pass(100)
  const all = there.listOf([], quota)
  t.not(there.askFor(all, 99), 'passed', 'it holds some ahead of need')
  // It gives back after 10 s, and the other process remembers the answer for as long.
  for (let second = 0; second < 25; second++) {
    stage.pass(1000)
    t.not(here.askFor(list, 500), 'passed')
  }
  t.equal(there.askFor(all, 99), 'passed')
  t.end()
})

t.test('a process that closes gives back what it holds, and holds nothing more', (t) => {
  const stage = new LimiterStage()
  const [here, there] = [stage.start('here'), stage.start('there')]
  t.same(here.ask(here.listOf([], quota)), ['passed'])
  here.limiter.close()
  stage.pass(100, () => here.limiter.isSettled)
  t.ok(here.limiter.isSettled)
  t.equal(there.askFor(there.listOf([], quota), 99), 'passed')
  t.end()
})

t.test(
  'a process whose requests another limit refuses gives back what it holds of a limit',
  (t) => {
    const stage = new LimiterStage()
    const [here, there] = [stage.start('here'), stage.start('there')]
    const tenant = { subject: 'tenant:b', period: 3600, limit: 20 }
    const small = { subject: 'key:a', period: 86_400, limit: 1 }
    const list = here.listOf([tenant, small])
    t.equal(here.askFor(list, 1), 'passed', 'it holds two of the other limit ahead of need')
    const other = there.listOf([tenant])
    for (let second = 0; second < 125; second++) {
      stage.pass(1000)
      t.not(here.askFor(list, 1), 'passed')
    }
    const decisions = there.ask(...Array.from({ length: 20 }, () => other))
    t.equal(decisions.filter((decision) => decision === 'passed').length, 19)
    t.end()
  },
)

t.test('a key below its limit is never refused, whether it comes in bursts or not', (t) => {
  const rows: [limit: number, period: number, burst: number][] = [
    [100, 3600, 1],
    [1000, 3600, 10],
    [1000, 86_400, 20],
  ]
  for (const [limit, period, burst] of rows) {
    const stage = new LimiterStage()
    const hosts = ['one', 'two', 'three'].map((name) => stage.start(name))
    const lists = hosts.map((host) => host.listOf([{ subject: 'key:a', period, limit }]))
    const everyMs = Math.ceil((period * 1000 * burst) / (limit * 0.95))
    // Two windows.
    for (let n = 0; n < (2 * limit) / burst; n++) {
      const from = stage.now
      const list = lists[n % 3]!
      const decisions = hosts[n % 3]!.ask(...Array.from({ length: burst }, () => list))
      const isPassed = decisions.every((decision) => decision === 'passed')
      t.ok(isPassed, `burst ${n} of ${burst}, of ${limit} in ${period} s`)
      if (!isPassed) break
      stage.pass(everyMs - (stage.now - from))
    }
  }
  t.end()
})

t.test('a request that waits is decided by the meter that is in use when it is answered', (t) => {
  const stage = new LimiterStage()
  const host = stage.start('host')
  const rule = { subject: 'key:a', period: 1, limit: 1 }
  const list = host.listOf([rule])
  t.equal(host.askFor(list, 1), 'passed')
  stage.pass(1200)
  t.equal(host.limiter.take(list, 1), null)
  let decision: unknown
  host.limiter.wait(list, 1, (late) => (decision = late))
  host.limiter.sweep()
  stage.pass(10)
  t.equal(decision, 'passed')
  t.not(host.askFor(host.listOf([rule]), 1), 'passed', 'another list of the key knows of it')
  stage.pass(3000)
  t.equal(host.limiter.size, 0)
  t.end()
})

t.test('all meters are swept within sixty sweeps, however many there are', (t) => {
  const stage = new LimiterStage()
  const host = stage.start('host')
  for (let n = 0; n < 130_000; n++) host.listOf([{ subject: `key:${n}`, period: 1, limit: 1 }])
  t.equal(host.limiter.size, 130_000)
  stage.now += 1001
  for (let n = 0; n < 60; n++) host.limiter.sweep()
  t.equal(host.limiter.size, 0)
  t.end()
})
