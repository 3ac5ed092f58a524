import t from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

t.test('a subscription has as many attempts in flight as its concurrency', async (t) => {
  const { app } = await startHost(t)
  const inFlight: (() => void)[] = []
  let most = 0
  await app.svc.events.subscribe(
    'work',
    () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      inFlight.push(resolve)
      most = Math.max(most, inFlight.length)
      return promise
    },
    { concurrency: 4 },
  )
  await app.ready()
  await Promise.all(Array.from({ length: 12 }, (_, n) => app.svc.events.publish('work', n)))

  await until(() => inFlight.length === 4)
  for (let ended = 0; ended < 12; ended++) {
    await until(() => inFlight.length > 0)
    inFlight.shift()?.()
  }
  t.equal(most, 4)
})
