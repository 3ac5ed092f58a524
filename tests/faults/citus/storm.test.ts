// promise: On a cluster of Citus, rows of the host and events agree while workers and the coordinator are killed, a worker is added and shards move
/**
 * A host with distributed and reference tables publishes in the transactions that write them, while workers
 * and the coordinator are killed, a worker is added and shards move. What it wrote and what it published agree.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { seededRandom } from '../../auth/support/random.ts'
import { currentRun } from '../../support/test-run.ts'
import { until } from '../../support/until.ts'
import { startHost, type Host } from '../../webhooks/support/host.ts'
import { binariesOf, startCluster, type StormCluster } from './cluster.ts'
import { openReceiver } from '../../support/receiver.ts'

const { SVC_FAULT_SCHEDULES = '1', SVC_FAULT_SEED = '1' } = process.env
const FAULTS = 10
const WRITERS = 6
const CUSTOMERS = 40
/** The longest that a fault waits for commits: a move of shards stops writes for a while. */
const CALM_MS = 15_000
/** The longest until all is delivered. */
const SETTLED_MS = 60_000

const { server, workers } = await currentRun()
const binaries = workers.length > 0 ? await binariesOf(server) : undefined
const skip =
  workers.length === 0
    ? 'no cluster of Citus is named: pnpm test --citus URL'
    : binaries === undefined && 'the programs of the cluster are not on this machine'

/** What a transaction writes beside its event. `one`: a row on one worker alone. */
const SHAPES = ['one', 'one, after the event', 'two', 'reference', 'reference and one'] as const
type Shape = (typeof SHAPES)[number]

interface Ledger {
  /** The shapes of all transactions that were begun, by the ids of their events. */
  begun: Map<string, Shape>
  acknowledged: Set<string>
  /** Those that were rolled back by the host. */
  refused: Set<string>
}

const TABLES = [
  'create table orders (customer int, id text, primary key (customer, id))',
  `select create_distributed_table('orders', 'customer', shard_count := 12)`,
  'create table rates (id text primary key)',
  `select create_reference_table('rates')`,
]

/** Writes until `stop`, one transaction after the other. */
function writing({ app }: Host, name: string, ledger: Ledger, random: () => number) {
  let isOn = true
  const pick = (count: number) => Math.floor(random() * count)
  const write = async (id: string, shape: Shape, rollsBack: boolean) =>
    app.svc.transaction(async (db) => {
      const order = () => db.query('insert into orders values ($1, $2)', [pick(CUSTOMERS), id])
      const rate = () => db.query('insert into rates values ($1)', [id])
      const event = () => app.svc.events.publish('order.created', { id }, { id, db })
      if (shape === 'one, after the event') await event()
      if (shape.startsWith('reference')) await rate()
      if (shape !== 'reference') await order()
      if (shape === 'two') {
        await db.query('insert into orders select n, $1 from unnest($2::int[]) as n', [
          `${id} more`,
          Array.from({ length: CUSTOMERS }, (_, n) => n),
        ])
      }
      if (shape !== 'one, after the event') await event()
      if (rollsBack) throw new Error('the host rolls back')
    })
  const ended = (async () => {
    for (let n = 0; isOn; n++) {
      const id = `${name}-${n}`
      const shape = SHAPES[pick(SHAPES.length)]!
      const rollsBack = pick(20) === 0
      ledger.begun.set(id, shape)
      if (rollsBack) ledger.refused.add(id)
      await write(id, shape, rollsBack).then(
        () => ledger.acknowledged.add(id),
        () => pause(20),
      )
    }
  })()
  return () => {
    isOn = false
    return ended
  }
}

type Fault = (cluster: StormCluster, admin: pg.Pool, random: () => number) => unknown

const FAULT_KINDS: Record<string, Fault> = {
  'a worker is killed': ({ workers: all }, _admin, random) =>
    all[Math.floor(random() * all.length)]!.crash(),
  'the coordinator is killed': ({ coordinator }) => coordinator.crash(),
  'the coordinator and a worker are killed': ({ coordinator, workers: all }, _admin, random) => {
    coordinator.crash()
    all[Math.floor(random() * all.length)]!.crash()
  },
  'a shard moves': async (_cluster, admin, random) => {
    // A worker that was added has none of them yet, and shards move only between nodes that have.
    await admin.query(`select replicate_reference_tables('block_writes')`)
    const { rows } = await admin.query(
      `select shardid, nodename, nodeport, target.name, target.port
         from citus_shards
        cross join lateral (
          select nodename as name, nodeport as port from pg_dist_node
           where shouldhaveshards and (nodename, nodeport) <> (citus_shards.nodename, citus_shards.nodeport)
           order by nodeid offset $1::int % greatest(1, (select count(*)::int - 1 from pg_dist_node where shouldhaveshards))
           limit 1
        ) as target
        where table_name = 'orders'::regclass order by shardid offset $2::int limit 1`,
      [Math.floor(random() * 10), Math.floor(random() * 12)],
    )
    const { shardid, nodename, nodeport, name, port } = rows[0]
    await admin.query(
      'select citus_move_shard_placement($1::bigint, $2::text, $3::int, $4::text, $5::int)',
      [shardid, nodename, nodeport, name, port],
    )
  },
}

/** Which rows, events and deliveries do not agree. */
async function judge(
  { begun, acknowledged, refused }: Ledger,
  admin: pg.Pool,
  delivered: Set<string>,
): Promise<string[]> {
  const idsOf = async (statement: string) =>
    new Set((await admin.query<{ id: string }>(statement)).rows.map(({ id }) => id))
  const events = await idsOf(
    `select split_part(id, ' ', -1) as id from svc."__svc.events" where name = 'order.created'`,
  )
  const orders = await idsOf('select id from orders')
  const rates = await idsOf('select id from rates')
  const { rows: more } = await admin.query<{ id: string; count: number }>(
    `select replace(id, ' more', '') as id, count(*)::int as count from orders where id like '% more' group by 1`,
  )
  const counts = new Map(more.map(({ id, count }) => [id, count]))
  const wrong: string[] = []
  for (const [id, shape] of begun) {
    const isThere = events.has(id)
    const about = `${id} (${shape}), ${isThere ? 'whose event is there' : 'which has no event'}`
    if (acknowledged.has(id) && !isThere) wrong.push(`${about}, was acknowledged`)
    if (refused.has(id) && isThere) wrong.push(`${about}, was rolled back`)
    if (delivered.has(id) !== isThere) {
      wrong.push(`${about}, was ${delivered.has(id) ? '' : 'not '}delivered`)
    }
    if (shape !== 'reference' && orders.has(id) !== isThere) wrong.push(`${about}: its order`)
    if (shape.startsWith('reference') && rates.has(id) !== isThere) wrong.push(`${about}: its rate`)
    if (shape === 'two' && (counts.get(id) ?? 0) !== (isThere ? CUSTOMERS : 0)) {
      wrong.push(`${about}: its ${counts.get(id) ?? 0} orders of other customers`)
    }
  }
  return wrong
}

t.test('storms over Citus', { skip, timeout: 0 }, async (t) => {
  await t.test('a worker that is away makes nothing of ours unhealthy', async (t) => {
    const cluster = await startCluster(binaries!)
    t.teardown(() => cluster.stop())
    const { database } = cluster
    await startHost(t, { database })
    const receiver = await openReceiver(t)
    cluster.workers[0]!.kill()
    const host = await startHost(t, { database })
    await host.register(receiver.url, ['order.created'])
    await host.app.svc.transaction((db) =>
      host.app.svc.events.publish('order.created', { id: 1 }, { db }),
    )
    t.equal((await receiver.waitFor(1)).length, 1, 'a host boots, publishes and delivers')
    t.ok((await host.app.svc.health()).ok)
  })

  const first = Number(SVC_FAULT_SEED)
  for (let seed = first; seed < first + Number(SVC_FAULT_SCHEDULES); seed++) {
    await t.test(`rows and events agree in the schedule of seed ${seed}`, async (t) => {
      const random = seededRandom(seed)
      const cluster = await startCluster(binaries!)
      t.teardown(() => cluster.stop())
      const { database } = cluster
      const admin = new pg.Pool({ connectionString: database, max: 2 })
      admin.on('error', () => {})
      t.teardown(() => admin.end())
      for (const statement of TABLES) await admin.query(statement)
      const hosts = [await startHost(t, { database }), await startHost(t, { database })] as const
      const receiver = await openReceiver(t)
      await hosts[0].register(receiver.url, ['order.created'])

      const ledger: Ledger = { begun: new Map(), acknowledged: new Set(), refused: new Set() }
      const stops = Array.from({ length: WRITERS }, (_, n) =>
        writing(hosts[n % hosts.length]!, `${seed}.${n}`, ledger, seededRandom(seed * 100 + n)),
      )
      const more = async (count: number) => {
        const wanted = ledger.acknowledged.size + count
        const deadline = performance.now() + CALM_MS
        await until(() => ledger.acknowledged.size >= wanted || performance.now() > deadline)
      }
      const moving: Promise<unknown>[] = []
      const meanwhile = (work: unknown) =>
        moving.push(Promise.resolve(work).catch((error: Error) => t.comment(error.message)))
      const adds = Math.floor(random() * FAULTS)
      for (let n = 0; n < FAULTS; n++) {
        await more(20 + Math.floor(random() * 60))
        if (n === adds) {
          t.comment('a worker is added, and shards are balanced')
          await cluster.addWorker()
          meanwhile(admin.query('select citus_rebalance_start()'))
          continue
        }
        const names = Object.keys(FAULT_KINDS)
        const name = names[Math.floor(random() * names.length)]!
        t.comment(name)
        meanwhile((async () => FAULT_KINDS[name]!(cluster, admin, random))())
      }
      await more(100)
      for (const stop of stops) await stop()
      await Promise.all(moving)

      // Citus finishes what was prepared.
      await until(async () => {
        try {
          await admin.query('select recover_prepared_transactions()')
          const { rows } = await admin.query(
            `select bool_and(success and result = '0') as yes
               from run_command_on_workers('select count(*) from pg_prepared_xacts')`,
          )
          return rows[0].yes as boolean
        } catch {
          return false
        }
      })
      const delivered = () =>
        new Set(
          receiver.received.map(({ body }) => (body as { payload: { id: string } }).payload.id),
        )
      const deadline = performance.now() + SETTLED_MS
      const wrong = await until(
        () => judge(ledger, admin, delivered()),
        ({ length }) => length === 0 || performance.now() > deadline,
        1000,
      )
      t.strictSame(wrong, [], 'rows, events and deliveries agree')
      t.ok((await hosts[0].app.svc.health()).ok, 'and the host is healthy')
      const { rows: shards } = await admin.query(
        `select string_agg(count::text, ', ' order by node) as counts
           from (select nodeid as node, count(shardid) from pg_dist_node
                   left join pg_dist_placement using (groupid)
                   left join pg_dist_shard using (shardid)
                  where groupid > 0 and coalesce(logicalrelid = 'orders'::regclass, true) group by 1) as node`,
      )
      t.comment(`shards of the workers: ${shards[0].counts}`)
      t.comment(`${ledger.acknowledged.size} of ${ledger.begun.size} were acknowledged`)
    })
  }
})
