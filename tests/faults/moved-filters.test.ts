/** The filters that a process has in memory, when the numbers of transactions mean others than those it has seen. */
import type pg from 'pg'
import t, { type Test } from 'tap'
import { crashBy, sessionOn } from '../support/session.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { startHost } from '../webhooks/support/host.ts'
import { startPair } from './pair.ts'
import { openReceiver } from '../support/receiver.ts'

/** A host with a webhook for orders of one total, which its process has in memory. */
async function startFiltered(t: Test, database: string) {
  const proxy = await proxyPostgres(t, database)
  const { app } = await startHost(t, { database: proxy.url })
  const receiver = await openReceiver(t)
  await app.svc.webhooks.register({
    url: receiver.url,
    events: ['order.created'],
    filter: { payload: { total: 100 } },
  })
  const publish = (total: number, db?: pg.Client) =>
    app.svc.events.publish('order.created', { total }, db && { db })
  const received = (total: number) =>
    until(() => receiver.received.some(({ body }) => body.payload.total === total))
  await publish(100)
  await received(100)
  return { proxy, publish, received }
}

/** Returns the number of the transaction, or nothing where no filter has the value `from`. */
async function changeFilter(db: pg.Client, from: number, to: number): Promise<bigint | undefined> {
  const { rows } = await db.query(
    `update svc."__svc.recipients" set filter = replace(filter::text, $1, $2)::jsonb
      where filter::text like '%' || $1 || '%' returning pg_current_xact_id()::text as xid`,
    [`${from}`, `${to}`],
  )
  return rows[0] && BigInt(rows[0].xid)
}

t.test('what was read on a standby is read again when it has become the primary', async (t) => {
  const { url, standbyUrl, first, standby, hasAll } = await startPair(t)
  const { proxy, publish, received } = await startFiltered(t, url)
  await first.query('begin')
  await changeFilter(first, 100, 200)
  // It is newer, and ends before: to the standby all up to it seem to have ended.
  const newer = await sessionOn(t, url)
  await newer.query('select pg_current_xact_id()')
  await newer.query('create table newer ()')
  await hasAll()
  proxy.moveTo(standbyUrl)
  proxy.reset()
  await until(
    () => publish(100).catch((error: unknown) => error),
    (answer) => /only reads/.test(`${answer}`),
  )
  await first.query('commit')
  await hasAll()
  await standby.query('select pg_promote()')
  await until(() =>
    publish(200).then(
      () => true,
      () => false,
    ),
  )
  await received(200)
})

t.test('a crash that has lost a change is told from the time before it', async (t) => {
  // Nothing is written to the disk by itself.
  const postgres = await startPostgres({ wal_writer_delay: '10s', wal_writer_flush_after: '1GB' })
  t.teardown(() => postgres.stop())
  const { proxy, publish, received } = await startFiltered(t, postgres.url)
  proxy.cut()
  const { db, lost, change } = await until(
    () => loseChange(postgres.url, publish),
    (crash) => crash.change !== undefined,
  )
  t.ok(change! <= lost!, 'the crash has lost the change, and gives its number to another one')
  await db.query('begin')
  await publish(300, db)
  await db.query('commit')
  proxy.mend()
  await received(300)
})

/**
 * The host reads a change of 100 to 200 that is not on the disk yet, Postgres crashes, and 100 is changed to 300.
 * If another session has written the change to the disk before the crash, it is taken back, and no `change` returned.
 */
async function loseChange(
  url: string,
  publish: (total: number, db: pg.Client) => Promise<unknown>,
) {
  const before = await sessionOn(t, url)
  await before.query('set synchronous_commit = off')
  const lost = await changeFilter(before, 100, 200)
  await before.query('begin')
  await publish(200, before)
  await before.query('rollback')
  const db = await crashBy(before, t, url)
  const change = await changeFilter(db, 100, 300)
  if (change === undefined) await changeFilter(db, 200, 100)
  return { db, lost, change }
}
