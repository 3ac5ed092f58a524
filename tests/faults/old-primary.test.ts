/** A standby is promoted, and nobody ends the old primary: its manager hangs. */
import t from 'tap'
import { until } from '../support/until.ts'
import { startHost } from '../webhooks/support/host.ts'
import { startPair } from './pair.ts'

t.test('a process with a list of hosts leaves a primary that can commit nothing', async (t) => {
  const { url, standbyUrl, first, standby } = await startPair(t, true)
  const { host } = new URL(url)
  const list = url.replace(host, `${host},${new URL(standbyUrl).host}`)
  const { app } = await startHost(t, { database: list })
  const warnings: Error[] = []
  const warn = (warning: Error) => void warnings.push(warning)
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const publish = (id: string) => app.svc.events.publish('order.created', {}, { id })
  await publish('before')
  const question = async () => {
    const { rows } = await standby.query(
      `select pid, query_start::text as at from pg_stat_activity
        where query like '%pg_walfile_name%' and pid <> pg_backend_pid()`,
    )
    return rows[0] as { pid: number; at: string } | undefined
  }
  const asked = (await until(question))!
  const again = await until(question, (one) => one !== undefined && one.at !== asked.at)
  t.equal(again?.pid, asked.pid, 'the standby is asked on one connection')

  await standby.query('select pg_promote()')
  const began = performance.now()
  await until(() =>
    publish('after').then(
      () => true,
      () => false,
    ),
  )
  const seconds = (performance.now() - began) / 1000
  t.ok(seconds < 10, `published after ${seconds.toFixed(1)} s`)
  const ids = async (client: typeof standby) => {
    const { rows } = await client.query('select id from svc."__svc.events" order by published_at')
    return rows.map(({ id }) => id)
  }
  t.same(await ids(standby), ['before', 'after'])
  const { rowCount } = await first.query(
    `select from pg_stat_activity where backend_type = 'client backend' and wait_event <> 'SyncRep'
        and pid <> pg_backend_pid() and query like '%svc%'`,
  )
  t.equal(rowCount, 0, 'no connection to the old primary is left')
  // Each new one looks for those that lead to another server.
  for (let n = 0; n < 12; n++) (await app.svc.database.connect()).release(true)
  t.same(warnings, [], 'nor is anything kept of them')

  // The new one lacks a standby for a while, and the old one still takes writes.
  await standby.query(`alter system set synchronous_standby_names = 'nobody'`)
  await standby.query('select pg_reload_conf()')
  // It takes effect a moment later: the renewal of a lease, or the like, waits.
  await until(
    () => standby.query(`select from pg_stat_activity where wait_event = 'SyncRep'`),
    (waiting) => waiting.rowCount !== 0,
  )
  let isPublished = false
  const publishing = publish('patient').then(() => (isPublished = true))
  await until(
    () =>
      standby.query(
        `select from pg_stat_activity where wait_event = 'SyncRep' and now() - state_change > interval '7 s'`,
      ),
    (waiting) => waiting.rowCount !== 0,
  )
  t.notOk(isPublished)
  await standby.query('alter system reset synchronous_standby_names')
  await standby.query('select pg_reload_conf()')
  await publishing
  t.same(await ids(standby), ['before', 'after', 'patient'], 'it has waited there')
})
