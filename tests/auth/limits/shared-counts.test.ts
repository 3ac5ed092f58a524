/** Keys that share a count, such as a rotated key and its successor, with different limits. */
import t from 'tap'
import { startHost, withMe, type KeyInput } from '../support/host.ts'
import { LimiterStage, type StagedProcess } from '../support/limiter-stage.ts'
import { watchStatements } from '../support/statements.ts'
import { farFromEndOf } from '../../support/utc.ts'

const lowered: Record<string, [KeyInput, KeyInput]> = {
  limits: [{ limits: [{ limit: 6, perSeconds: 60 }] }, { limits: [{ limit: 3, perSeconds: 60 }] }],
  quotas: [{ quota: { limit: 6, period: 'month' } }, { quota: { limit: 3, period: 'month' } }],
}

for (const [name, [high, low]] of Object.entries(lowered)) {
  t.test(`a rotated key and its successor wait together with different ${name}`, async (t) => {
    const host = await startHost(t, { after: withMe })
    const { key, id } = await host.makeKey(high)
    await farFromEndOf('day')
    const { body } = await host.ask('POST', `/_auth/keys/${id}/rotate`)
    const { status } = await host.ask('PATCH', `/_auth/keys/${body.id}`, { body: low })
    t.equal(status, 200)
    const get = (text: string) => host.ask('GET', '/me', { key: text })
    t.equal((await get(key)).status, 200)
    t.equal((await get(body.key)).status, 200)
    const { texts } = watchStatements(host.app)
    const answers = await Promise.all([get(body.key), get(key)])
    t.same(
      answers.map((answer) => answer.status),
      [200, 200],
    )
    t.match(
      answers.map(({ headers }) => headers['ratelimit']),
      [/;r=0(;|$)/, /;r=2(;|$)/],
      'each says what is left of its own limit',
    )
    // What is allotted too late on a busy machine is requested again.
    const statements = texts.filter((text) => text.includes('allot_allowances'))
    t.ok(statements.length <= 20, `${statements.length} statements`)
  })
}

const rule = (limit: number) => ({ subject: 'key:a', period: 3600, limit })

t.test('the requests of two limits are decided by as many statements, in any order', (t) => {
  for (const order of ['AB', 'BA', 'ABAB', 'BBAA', 'AABB'] as const) {
    const stage = new LimiterStage()
    const host = stage.start('host')
    const lists = { A: host.listOf([rule(6)]), B: host.listOf([rule(3)]) }
    t.same(host.ask(lists.A, lists.A), ['passed', 'passed'])
    const before = stage.batches.length
    const asked = order.split('').map((key) => lists[key as 'A' | 'B'])
    const decisions = host.ask(...asked)
    // The third request of all is the last one that the lower limit admits.
    let count = 2
    const expected = order.split('').map((key) => {
      if (count >= (key === 'A' ? 6 : 3)) return 'over'
      count++
      return 'passed'
    })
    t.same(decisions, expected, order)
    t.ok(stage.batches.length - before <= 2, `${order}: ${stage.batches.length - before}`)
  }
  t.end()
})

t.test('a request with a lower limit uses nothing that was allotted under a higher one', (t) => {
  const stage = new LimiterStage()
  const [here, there] = [stage.start('here'), stage.start('there')]
  const high = here.listOf([rule(1000)])
  const low = here.listOf([rule(50)])
  const others = there.listOf([rule(1000)])
  for (let n = 0; n < 60; n++) {
    t.same(there.ask(others), ['passed'])
    stage.pass(6000)
  }
  t.same(here.ask(high), ['passed'], 'this process holds some ahead of need now')
  t.same(here.ask(low), ['over'])
  t.same(here.ask(low, high, low, high), ['over', 'passed', 'over', 'passed'])
  t.end()
})

for (const [name, of] of Object.entries({
  limits: (host: StagedProcess, limit: number) => host.listOf([rule(limit)]),
  quotas: (host: StagedProcess, limit: number) =>
    host.listOf([], { subject: 'key:a', period: 'month', limit }),
})) {
  t.test(`two ${name} of one count in turn cause few statements`, (t) => {
    const stage = new LimiterStage()
    const host = stage.start('host')
    const [high, low] = [of(host, 1000), of(host, 300)]
    const before = stage.batches.length
    for (let second = 0; second < 60; second++) {
      t.same(host.ask(high, low), ['passed', 'passed'])
      stage.pass(1000)
    }
    const count = stage.batches.length - before
    t.ok(count < 60, `${count} statements for 120 requests`)
    t.end()
  })

  t.test(`what is held under the higher of two ${name} is given back with the lower one`, (t) => {
    const stage = new LimiterStage()
    const [here, there] = [stage.start('here'), stage.start('there')]
    const [high, low] = [of(here, 100), of(here, 60)]
    t.same(here.ask(high), ['passed'], 'it holds some ahead of need now')
    t.same(here.ask(low), ['passed'])
    stage.pass(1000)
    const all = there.ask(...Array.from({ length: 100 }, () => of(there, 100)))
    // The other process holds some of the lower limit.
    t.ok(all.filter((decision) => decision === 'passed').length >= 100 - 2 - 6, name)
    t.end()
  })

  t.test(`once the lower of two ${name} is unused the higher one is held for again`, (t) => {
    const stage = new LimiterStage()
    const host = stage.start('host')
    const [high, low] = [of(host, 10_000), of(host, 15)]
    t.same(host.ask(low), ['passed'])
    stage.pass(130_000)
    t.same(host.ask(high), ['passed'])
    stage.pass(1000)
    const before = stage.batches.length
    for (let n = 0; n < 20; n++) t.same(host.ask(high), ['passed'])
    t.ok(stage.batches.length - before <= 1, `${stage.batches.length - before} statements`)
    t.end()
  })
}

t.test('a flood over the lower limit needs no statement while the higher one passes', (t) => {
  const stage = new LimiterStage()
  const host = stage.start('host')
  const lists = { A: host.listOf([rule(8)]), B: host.listOf([rule(3)]) }
  t.same(host.ask(lists.A, lists.A, lists.A, lists.B), ['passed', 'passed', 'passed', 'over'])
  const before = stage.batches.length
  t.same(host.ask(lists.B, lists.B, lists.A, lists.B), ['over', 'over', 'passed', 'over'])
  t.equal(stage.batches.length - before, 1)
  t.end()
})

t.test('a request with the old limit that waits while the limit is raised is decided', (t) => {
  const stage = new LimiterStage()
  const host = stage.start('host')
  const old = host.listOf([rule(6)])
  t.same(host.ask(old), ['passed'])
  const decisions: unknown[] = []
  t.equal(host.limiter.take(old, 1), null)
  host.limiter.wait(old, 1, (decision) => decisions.push(decision))
  const raised = host.listOf([rule(9)])
  t.same(host.ask(raised), ['passed'])
  t.same(decisions, ['passed'])
  t.end()
})

t.test('what is allotted too late is given back and allotted again', (t) => {
  const stage = new LimiterStage()
  const host = stage.start('host')
  stage.tookMs = 600
  const list = host.listOf([{ subject: 'key:a', period: 3600, limit: 3 }])
  const decisions: unknown[] = []
  for (let n = 0; n < 5; n++) {
    t.equal(host.limiter.take(list, 1), null)
    host.limiter.wait(list, 1, (decision) => decisions.push(decision))
  }
  stage.pass(1500, () => decisions.length === 5)
  t.equal(decisions.filter((decision) => decision === 'passed').length, 3)
  t.equal(decisions.filter((decision) => decision === 'unavailable').length, 0)
  t.end()
})
