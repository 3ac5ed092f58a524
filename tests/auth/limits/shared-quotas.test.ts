/** What one process leaves of a quota to the others. */
import t from 'tap'
import { startHost } from '../support/host.ts'
import { LimiterStage } from '../support/limiter-stage.ts'

const after = (app: { get(path: string, ...rest: unknown[]): unknown }) => {
  app.get('/me', async () => 'me')
  app.get('/dear', { config: { cost: 7 } }, async () => 'dear')
}

t.test('a request that costs more than is left takes nothing from other processes', async (t) => {
  const here = await startHost(t, { after })
  const there = await startHost(t, { after, database: here.database })
  const { key } = await here.makeKey({ quota: { limit: 8, period: 'total' } })
  const statusOf = async (host: typeof here, path: string) =>
    (await host.ask('GET', path, { key })).status
  t.equal(await statusOf(here, '/me'), 200)
  t.equal(await statusOf(here, '/me'), 200)
  t.equal(await statusOf(here, '/dear'), 429)
  t.equal(await statusOf(there, '/me'), 200)
  const { body } = await here.ask('POST', '/_auth/verify', { body: { key, cost: 1_000_000 } })
  t.match(body, { valid: false, code: 'SVC_AUTH_QUOTA_EXCEEDED' })
  t.equal(await statusOf(there, '/me'), 200)
  t.equal(await statusOf(here, '/me'), 200, 'the host that refused it has cheaper requests')
  for (let n = 0; n < 3; n++) t.equal(await statusOf(there, '/me'), 200)
  t.equal(await statusOf(here, '/me'), 429)
})

const quotaOf = (limit: number) => ({ subject: 'key:a', period: 'total', limit }) as const

t.test('of requests that wait together each gets all that it costs, or nothing', (t) => {
  const stage = new LimiterStage()
  const [here, there] = [stage.start('here'), stage.start('there')]
  const list = here.listOf([], quotaOf(9))
  t.equal(there.askFor(there.listOf([], quotaOf(9)), 2), 'passed')
  const decisions: [cost: number, decision: string][] = []
  for (const cost of [8, 3, 5, 2]) {
    t.equal(here.limiter.take(list, cost), null)
    here.limiter.wait(list, cost, (decision) =>
      decisions.push([cost, typeof decision === 'string' ? decision : 'over']),
    )
  }
  stage.pass(10)
  t.same(
    new Map(decisions),
    new Map([
      [8, 'over'],
      [3, 'passed'],
      [5, 'over'],
      [2, 'passed'],
    ]),
  )
  t.equal(there.askFor(there.listOf([], quotaOf(9)), 2), 'passed')
  t.end()
})

t.test('a slow refusal is asked for once', (t) => {
  const stage = new LimiterStage()
  const host = stage.start('host')
  const list = host.listOf([], quotaOf(9))
  const other = stage.start('other')
  t.equal(other.askFor(other.listOf([], quotaOf(9)), 5), 'passed')
  stage.tookMs = 600
  const before = stage.batches.length
  const decision = host.askFor(list, 7)
  t.type(decision, 'object', 'refused, not unavailable')
  t.equal(stage.batches.length - before, 1)
  t.end()
})

t.test('what a quota allots to a request that a limit refuses is given back', (t) => {
  const stage = new LimiterStage()
  const [here, there] = [stage.start('here'), stage.start('there')]
  const limits = [{ subject: 'key:a', period: 3600, limit: 1 }]
  t.equal(here.askFor(here.listOf(limits, quotaOf(10)), 5), 'passed')
  const list = there.listOf(limits, quotaOf(10))
  t.not(there.askFor(list, 5), 'passed', 'the limit refuses it')
  for (let n = 0; n < 10; n++) {
    stage.pass(100)
    t.not(there.askFor(list, 5), 'passed')
  }
  t.equal(here.askFor(here.listOf([], quotaOf(10)), 5), 'passed')
  t.end()
})
