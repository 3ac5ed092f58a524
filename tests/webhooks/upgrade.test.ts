import t from 'tap'
import { receiver as openReceiver } from '@svc/core/testing'
import { startHost } from './support/host.ts'

t.test(
  'deliveries that an older version put off until their webhook is active go on',
  async (t) => {
    const older = await startHost(t, { core: { worker: { enabled: false } } })
    const receiver = await openReceiver()
    t.teardown(() => receiver.close())
    const { id } = await older.register(receiver.url)
    for (let n = 0; n < 3; n++) await older.app.svc.events.publish('order.created', { n })
    // As the older version left it.
    await older.app.svc.database.query(
      `update svc_jobs.job set start_after = '9999-01-01' where singleton_key = '${id}';
     update svc."__svc.webhooks.registrations" set active = false;
     delete from svc."__svc.migrations" where name = '002-parked-deliveries.sql'`,
    )

    const { ask } = await startHost(t, { database: older.database })
    await ask('PATCH', `/${id}`, { active: true })
    t.equal((await receiver.waitFor(3)).length, 3)
  },
)
