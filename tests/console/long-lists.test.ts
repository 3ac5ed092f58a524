/**
 * Lists of long tables: every page is a walk along an index, deep ones and filtered ones too, and none
 * counts what it does not show. `SVC_LOAD=long` makes the tables a million rows long, and says how long
 * each page took.
 */
import type pg from 'pg'
import t from 'tap'
import type { CallName } from '../../packages/console/src/contract.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { explainingPool, nodesOf, type Plan } from '../support/query-plans.ts'
import { startHost } from './support/host.ts'
import { fillTables, RARE } from './support/long-tables.ts'

const ROWS = process.env['SVC_LOAD'] === 'long' ? 1_000_000 : 20_000
/** A page shows 51 rows at most, and looks a row or two aside: far from all of them. */
const MOST_READ = ROWS / 20
/** Of a word as many matches are looked up before the newest rows are searched. */
const MOST_OF_SEARCH = 1000 + MOST_READ
/** Of each tenant users, keys and webhooks are counted, up to a thousand of each. */
const MOST_OF_TENANTS = 3 * Math.min(ROWS, 51 * 1000) + MOST_READ

/**
 * The scans that read rows, and how many in all. A page changes nothing: a statement that does is one
 * of the host's periodic tasks.
 */
function readBy(plans: Plan[]) {
  const scans = plans
    .map(nodesOf)
    .filter((nodes) => nodes.every((node) => node['Node Type'] !== 'ModifyTable'))
    .flat()
    .filter((node) => /^__svc\.(?!recipients|processes)/.test(node['Relation Name'] ?? ''))
  const read = scans.reduce(
    (sum, scan) =>
      sum +
      scan['Actual Rows'] * scan['Actual Loops'] +
      (scan['Rows Removed by Filter'] ?? 0) +
      (scan['Rows Removed by Index Recheck'] ?? 0),
    0,
  )
  // Partitions of days without rows, and small tables, are read as they are.
  const long = scans.filter(
    (scan) => scan['Node Type'] === 'Seq Scan' && scan['Actual Rows'] > MOST_READ,
  )
  return { read, long: long.map((scan) => scan['Relation Name']) }
}

const spanOf = (hoursAgo: number) => ({
  since: new Date(Date.now() - hoursAgo * 3600_000).toISOString(),
  until: new Date(Date.now() - (hoursAgo - 1) * 3600_000).toISOString(),
})

/** Every list with every filter of its own. */
const LISTS: [CallName, ...object[]][] = [
  [
    'deliveries.list',
    {},
    { webhookId: RARE.webhookId },
    { tenant: RARE.tenant },
    { status: 'dead' },
    { event: RARE.event },
    { eventId: RARE.eventId },
    { deliveryId: RARE.deliveryId },
    { statusCode: 503 },
    spanOf(20),
    { latest: true },
    { latest: true, ...spanOf(20) },
    { latest: true, status: 'dead' },
  ],
  ['events.list', {}, { name: RARE.event }, { tenant: RARE.tenant }, spanOf(20)],
  [
    'inbound.list',
    {},
    { source: RARE.source },
    { outcome: 'refused' },
    { tenant: RARE.tenant },
    spanOf(20),
  ],
  [
    'audit.list',
    {},
    { tenant: RARE.tenant },
    { actor: RARE.userId },
    { actor: 'bootstrap' },
    { target: RARE.webhookId },
    { target: 'webhook' },
    { action: RARE.action },
    spanOf(20),
  ],
  [
    'keys.list',
    {},
    { tenant: RARE.tenant },
    { userId: RARE.userId },
    { prefix: RARE.prefix },
    { state: 'revoked' },
    { state: 'disabled' },
  ],
  ['users.list', {}, { tenant: RARE.tenant }, { search: 'user' }],
  ['webhooks.list', {}, { tenant: RARE.tenant }],
  ['tenants.list', {}],
]

t.test('each page of each list is read along an index', async (t) => {
  const database = await freshDatabase(t)
  await fillTables(database, ROWS)
  const { pool, plans } = explainingPool(t, database)
  // The statements are those of the pages alone: no worker reads or writes tables beside them.
  const host = await startHost(t, {
    database,
    core: { database: pool, worker: { enabled: false } },
  })
  const page = await host.signIn()

  for (const [name, ...filters] of LISTS) {
    for (const filter of filters) {
      const measure = async (input: object, what: string) => {
        plans.length = 0
        const started = performance.now()
        const answer = await page.call(name, { ...input, limit: 50 })
        const ms = performance.now() - started
        const { read, long } = readBy(plans)
        const said = `${name} ${JSON.stringify(filter)}${what}: ${Math.round(ms)} ms, ${read} rows read`
        t.equal(answer.status, 200, answer.status === 200 ? said : answer.text)
        t.ok(answer.body.items.length > 0, `${said}: it shows something`)
        // Events have no index of their own order: a search goes back in spans of time.
        if (name === 'events.list') t.comment(said)
        else {
          t.same(long, [], `${said}: no table is read from end to end`)
          const most = 'search' in filter ? MOST_OF_SEARCH : MOST_READ
          t.ok(read <= (name === 'tenants.list' ? MOST_OF_TENANTS : most), said)
        }
        if (ROWS > 20_000) t.comment(said)
        return answer.body.next as string | null
      }
      const next = await measure(filter, '')
      const deep = next && (await afterHalf(host.app.svc.database, name))
      if (deep) await measure({ ...filter, after: deep }, ', deep')
    }
  }
})

const TABLES: Partial<Record<CallName, string>> = {
  'deliveries.list': '__svc.webhooks.delivery_log',
  'inbound.list': '__svc.webhooks.inbound_log',
  'audit.list': '__svc.audit',
  'keys.list': '__svc.auth.api_keys',
}

/** The id in the middle of a table; of a filter as well, as what is rare stands everywhere. */
async function afterHalf(db: pg.Pool, name: CallName): Promise<string | undefined> {
  const table = TABLES[name]
  if (table === undefined) return undefined
  const { rows } = await db.query(
    `select id from svc."${table}" order by id limit 1 offset ${ROWS / 2}`,
  )
  return rows[0].id
}
