import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { wholeHost } from '../support/whole-host.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/operate/runbook.md'), 'utf8')

t.test('the statements of the runbook run on the tables of a host', async (t) => {
  const app = await wholeHost(t, { database: { connectionString: await freshDatabase(t), max: 4 } })
  await app.ready()
  const ofTenant = { tenant: 'acme', id: 'order-1' }
  const published = [
    { tenant: null, id: (await app.svc.events.publish('order.created', {})).id },
    {
      tenant: 'acme',
      id: (await app.svc.events.publish('order.created', {}, { tenant: 'acme' })).id,
    },
    ofTenant,
  ]
  await app.svc.events.publish('order.created', {}, ofTenant)
  const statements = [...page.matchAll(/```sql\n([^]*?)```/g)].map(([, sql = '']) => sql)
  t.ok(statements.length >= 4)
  for (const sql of statements) {
    for (const { tenant, id } of published) {
      const filled = sql.replaceAll('<id>', id).replaceAll('<tenant>', tenant ?? '')
      const { rows } = await app.svc.database.query(filled)
      if (sql.includes('<id>')) t.match(rows, [{ name: 'order.created', tenant }], `of ${tenant}`)
      if (sql.includes('pg_size_pretty')) t.ok(rows.length > 5)
    }
  }
})
