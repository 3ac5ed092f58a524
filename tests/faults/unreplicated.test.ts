/** With synchronous replication a commit waits for the standby. Nothing may end that wait: Postgres would show the commit, and a failover would lose it. */
import t from 'tap'
import { until } from '../support/until.ts'
import { startHost } from '../webhooks/support/host.ts'
import { startPair } from './pair.ts'

t.test(
  'an event that the standby lacks is not delivered, however long its publish waits',
  async (t) => {
    const { url, first, standby } = await startPair(t, true)
    const { app } = await startHost(t, { database: url })
    const handled: string[] = []
    await app.svc.events.subscribe('order.created', async (_, { id }) => void handled.push(id), {
      subscription: 'orders',
    })
    const stored = () => first.query(`select from svc."__svc.events" where name = 'order.created'`)
    const { rows } = await standby.query('select pid from pg_stat_wal_receiver')
    const signal = (name: 'SIGSTOP' | 'SIGCONT') => process.kill(rows[0].pid, name)
    t.teardown(() => signal('SIGCONT'))
    signal('SIGSTOP')
    await t.rejects(app.svc.events.publish('order.created', {}, { id: 'a' }), {
      code: 'SVC_UNAVAILABLE',
    })
    t.equal((await stored()).rowCount, 0, 'nobody sees it')
    t.same(handled, [])
    signal('SIGCONT')
    await until(stored, ({ rowCount }) => rowCount === 1)
    t.pass('it is there when the standby has it')
  },
)
