import { advance } from '@svc/testing'
import t from 'tap'
import { publishExpiryNotices } from '../../../packages/auth/src/operations/key-ageing.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { startHost, type Host } from '../support/host.ts'
import { expire, hostWithContext, published } from '../support/key-ageing.ts'

const DAY = 86_400
const expiredKeys = async ({ app }: Pick<Host, 'app'>) =>
  (await published(app, 'expired')).map(({ payload }) => payload['keyId'])

t.test('a key that expired while no worker ran for a month has its event and audit', async (t) => {
  const database = await freshDatabase(t)
  const withoutWorker = await startHost(t, { database })
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const { id } = await withoutWorker.makeKey({ expiresAt })
  await advance(withoutWorker.app, 30 * DAY)
  t.same(await expiredKeys(withoutWorker), [])

  const host = await startHost(t, { database, core: { worker: { enabled: true } } })
  await until(async () => (await expiredKeys(host)).length > 0)
  await advance(host.app, 1)
  t.same(await expiredKeys(host), [id])
  t.match(await host.app.svc.audit.list({ action: 'key.expire' }), [
    { target: { kind: 'key', id }, actor: { kind: 'system', keyId: null } },
  ])
})

t.test('after a pause each expiry is published once, also by processes at once', async (t) => {
  const host = await hostWithContext(t)
  const { app, context, makeKey } = host
  const [first, second] = [await makeKey(), await makeKey()]
  await expire(app, first.id, '400 days')
  await expire(app, second.id, '1 day')
  await Promise.all([1, 2, 3].map(() => publishExpiryNotices(context, [])))
  await publishExpiryNotices(context, [])
  t.same(await expiredKeys(host), [first.id, second.id])
})

t.test('a failed run leaves what it has not published to the next one', async (t) => {
  const host = await hostWithContext(t)
  const { app, context, makeKey } = host
  const { id } = await makeKey()
  await expire(app, id, '20 days')
  const fail = () => Promise.reject(new Error('no'))
  await t.rejects(publishExpiryNotices({ ...context, record: fail }, []), { message: 'no' })
  await publishExpiryNotices(context, [])
  t.same(await expiredKeys(host), [id])
})

t.test('where no key is due, a run is one statement', async (t) => {
  const { context, makeKey } = await hostWithContext(t)
  let statements = 0
  const within: typeof context.within = (call, run) =>
    context.within(call, (tx) =>
      run({
        query(text, values) {
          statements++
          return tx.query(text, values)
        },
      }),
    )
  for (const days of [5, 10]) {
    await makeKey({ expiresAt: new Date(Date.now() + days * DAY * 1000).toISOString() })
  }
  await publishExpiryNotices(context, [1, 7])
  await publishExpiryNotices({ ...context, within }, [1, 7])
  t.equal(statements, 1)
})
