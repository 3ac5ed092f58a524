/** Transactions whose ids Postgres no longer knows: a failover can lose the last ones. */
import type { PoolClient } from 'pg'
import t, { type Test } from 'tap'
import {
  findEndedTransactions,
  findTransactionId,
} from '../../../../packages/auth/src/tables/transactions.ts'
import { startHost, withMe, type Host } from '../../support/host.ts'
import { areDecidedFromMemory } from '../../support/statements.ts'

/** No server has come so far. */
const LOST = '9000000000000000'

async function begin(t: Test, { app }: Host): Promise<PoolClient> {
  const db = await app.svc.database.connect()
  t.teardown(() => db.release())
  await db.query('begin')
  return db
}

t.test('a transaction that the server does not know has ended, an open one has not', async (t) => {
  const host = await startHost(t)
  const { database } = host.app.svc
  const [first, second] = [await begin(t, host), await begin(t, host)]
  const ids = [await findTransactionId(first), await findTransactionId(second)]

  t.same(await findEndedTransactions(database, [LOST]), [LOST])
  for (let polls = 0; polls < 3; polls++) {
    t.same(await findEndedTransactions(database, [...ids, LOST]), [LOST])
  }
  await second.query('rollback')
  t.same(await findEndedTransactions(database, [...ids, LOST]), [ids[1], LOST])
  await first.query('commit')
  t.same(await findEndedTransactions(database, [...ids, LOST]), [...ids, LOST])
})

t.test('the newest transaction of all is open', async (t) => {
  const host = await startHost(t)
  for (let n = 0; n < 20; n++) {
    const db = await host.app.svc.database.connect()
    await db.query('begin')
    const id = await findTransactionId(db)
    t.same(await findEndedTransactions(host.app.svc.database, [id]), [])
    await db.query('commit')
    db.release()
    t.same(await findEndedTransactions(host.app.svc.database, [id]), [id])
  }
})

t.test('keys that a lost transaction has changed are remembered again', async (t) => {
  const host = await startHost(t, { after: withMe })
  const { auth } = host.app.svc
  const [ofLost, ofAnother] = [await host.makeKey(), await host.makeKey()]
  const db = await begin(t, host)
  await auth.updateApiKey({ id: ofAnother.id, label: 'x' }, { db })
  const lost = await begin(t, host)
  const query = lost.query.bind(lost) as (text: string, values?: unknown[]) => Promise<object>
  const losing = async (text: string, values?: unknown[]) =>
    text.includes('pg_current_xact_id') ? { rows: [{ id: LOST }] } : query(text, values)
  Object.assign(lost, { query: losing })
  await auth.updateApiKey({ id: ofLost.id, label: 'x' }, { db: lost })
  Object.assign(lost, { query })
  await lost.query('rollback')
  await db.query('commit')

  await areDecidedFromMemory(host, ofLost.key, ofAnother.key)
  t.equal((await host.ask('GET', '/me', { key: ofLost.key })).status, 200)
})
