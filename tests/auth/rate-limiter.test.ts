import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { RateLimiter } from '../../packages/auth/src/guard/rate-limit.ts'
import { startHost } from './support/host.ts'
import { watchStatements } from './support/statements.ts'

const limit = { maxAttempts: 2, windowMs: 60_000, blockDurationMs: 60_000 }

t.test('a prefix is watched from the first use of its key until it is used no more', async (t) => {
  const { app } = await startHost(t)
  const { database } = app.svc
  const { texts } = watchStatements(app)
  const limiter = new RateLimiter(database, database, limit)
  const state = await limiter.care('svc_abcd')
  t.equal(state.needsCare, false)
  t.equal(await limiter.care('svc_abcd'), state, 'one state for all keys of a prefix')

  for (let i = 0; i < 100; i++) await limiter.refresh()
  state.usedIn = limiter.round
  for (let i = 0; i < 100; i++) await limiter.refresh()
  t.equal(state.needsCare, false)
  for (let i = 0; i < 100; i++) await limiter.refresh()
  t.equal(state.needsCare, true, 'its keys have to ask again')

  const asked = texts.length
  await limiter.refresh()
  t.equal(texts.length, asked, 'and nobody asks about it any more')
  const anew = await limiter.care('svc_abcd')
  t.not(anew, state)
  t.equal(anew.needsCare, false)
})

t.test('what another process counted is heard of, a block and its end too', async (t) => {
  const { app } = await startHost(t)
  const { database } = app.svc
  const here = new RateLimiter(database, database, { ...limit, blockDurationMs: 200 })
  const there = new RateLimiter(database, database, { ...limit, blockDurationMs: 200 })
  const state = await here.care('svc_abcd')

  t.equal(await there.fail('svc_abcd'), 0)
  await here.refresh()
  t.match(state, { needsCare: true, hasFailures: true })
  t.equal(here.blockedForMs('svc_abcd'), 0)

  t.equal(await there.fail('svc_abcd'), 0)
  t.ok((await there.fail('svc_abcd')) > 0)
  await here.refresh()
  t.ok(here.blockedForMs('svc_abcd') > 0)
  await here.care('svc_abcd')
  t.ok(here.blockedForMs('svc_abcd') > 0, 'a good key does not end a block')

  // Not by rounds of refresh(): a quick machine makes enough of them in 200 ms to let the prefix go.
  while (here.blockedForMs('svc_abcd') > 0) await setTimeout(here.blockedForMs('svc_abcd'))
  await here.refresh()
  await here.care('svc_abcd')
  t.match(state, { needsCare: false, hasFailures: false })
})
