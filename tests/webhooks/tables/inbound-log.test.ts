import t from 'tap'
import {
  insertInboundRows,
  listInboundRows,
  sweepInboundRows,
} from '../../../packages/webhooks/src/tables/inbound-log.ts'
import { UnwrittenRows } from '../../../packages/webhooks/src/inbound/request-log.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { rowAt } from '../support/inbound-row.ts'

const DAY_MS = 24 * 3600 * 1000
/** An hourly task deletes old rows as well. */
const WITHOUT_TASKS = { core: { worker: { enabled: false } } }

t.test('inbound rows are deleted when they are older than the retention', async (t) => {
  const { app } = await startHost(t, WITHOUT_TASKS)
  const db = app.svc.database
  const now = Date.now()
  const days = [0, 6.9, 7.1, 30]
  await insertInboundRows(
    db,
    days.map((day) => rowAt(Math.round(now - day * DAY_MS))),
  )
  await sweepInboundRows(db, 7)
  const rows = await listInboundRows(db, {})
  t.strictSame(
    rows.map(({ at }) => at),
    [0, 6.9].map((day) => new Date(Math.round(now - day * DAY_MS)).toISOString()),
  )
})

t.test('rows are filtered by tenant, and rows without a tenant belong to none', async (t) => {
  const { app } = await startHost(t, WITHOUT_TASKS)
  const db = app.svc.database
  const now = Date.now()
  await insertInboundRows(db, [
    rowAt(now, { tenant: 'acme' }),
    rowAt(now - 1, { tenant: 'globex' }),
    rowAt(now - 2),
  ])
  const tenants = async (reach: string | null) =>
    (await listInboundRows(db, { reach })).map((row) => row.tenant)
  t.strictSame(await tenants(null), ['acme', 'globex', null])
  t.strictSame(await tenants('acme'), ['acme'])
  t.strictSame(await tenants(''), [null])
  t.strictSame(await tenants('other'), [])
})

t.test('a page of one source, and of refused requests, is read along an index', async (t) => {
  const { app } = await startHost(t, WITHOUT_TASKS)
  const plans: string[] = []
  const explaining = {
    query: async (text: string, values?: unknown[]) => {
      const client = await app.svc.database.connect()
      try {
        await client.query('set enable_seqscan = off')
        await client.query('set plan_cache_mode = force_custom_plan')
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      } finally {
        client.release()
      }
      return { rows: [], rowCount: 0 }
    },
  }
  for (const filter of [{}, { source: 'a' }, { outcome: 'refused' as const }, { reach: 'acme' }]) {
    await listInboundRows(explaining, { ...filter, limit: 100 })
  }
  for (const plan of plans) {
    t.match(plan, /Index Scan/)
    t.notMatch(plan, /Sort/)
  }
  t.match(plans[1], 'inbound_log_source_id_idx')
  t.match(plans[3], 'inbound_log_tenant_id_idx')
})

t.test('rows that cannot be written yet take a bounded number of bytes', async (t) => {
  const inserts: { body: string | null }[][] = []
  const isWritten = Promise.withResolvers<void>()
  const db = {
    query: async (_text: string, values: unknown[] = []) => {
      inserts.push(JSON.parse(String(values[0])) as { body: string | null }[])
      await isWritten.promise
      return { rows: [], rowCount: 0 }
    },
  }
  const unwritten = new UnwrittenRows({ db, log: { warn: () => t.fail() } } as never)
  const add = () => unwritten.add(rowAt(1, { headers: '[]', body: Buffer.alloc(6 * 1_048_576) }))
  for (let n = 0; n < 3; n++) add()
  const closed = unwritten.close()
  await until(() => inserts.length === 1)
  // Those of an insert that is under way count too.
  add()
  for (let n = 0; n < 1000; n++) unwritten.add(rowAt(1))
  isWritten.resolve()
  await closed
  await unwritten.close()
  const bytes = inserts.map((rows) =>
    rows.map(({ body }) => Buffer.byteLength(body ?? '', 'base64')),
  )
  t.strictSame(bytes[0], [6_291_456, 6_291_456, 0])
  t.strictSame(bytes[1], Array(997).fill(0))
})
