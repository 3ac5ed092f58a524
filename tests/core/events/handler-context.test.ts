/** Attempts may begin in the request that published their event: handlers must not see its context. */
import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

const PUBLISHES = 20

t.test('a handler does not see the AsyncLocalStorage of the request that published', async (t) => {
  const tenantOfRequest = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const { app } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', () => void seen.push(tenantOfRequest.getStore())),
  })
  for (let n = 1; n <= PUBLISHES; n++) {
    await tenantOfRequest.run('acme', () => app.svc.events.publish('a', n))
    await until(() => seen.length === n)
  }
  t.strictSame(new Set(seen), new Set([undefined]))
})

t.test('a handler begins a transaction while that of the publisher is open', async (t) => {
  const seen: unknown[] = []
  const { app } = await startHost(t, {
    setUp: ({ svc }) =>
      svc.events.subscribe('a', async (payload, { attempt }) => {
        await svc.transaction((db) => db.query('select 1'))
        seen.push([payload, attempt])
      }),
  })
  for (let n = 1; n <= PUBLISHES; n++) {
    await app.svc.transaction(async () => {
      await app.svc.events.publish('a', n)
      await until(() => seen.length === n)
    })
  }
  t.strictSame(
    seen,
    Array.from({ length: PUBLISHES }, (_, index) => [index + 1, 1]),
  )
})
