/** Makes a fault of a cluster happen, and notes how soon its hosts go on. */
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import type { ClusterFault } from '../schedule.ts'
import type { World } from '../strike.ts'
import { firstCommit, type Cluster, type Node } from './cluster.ts'

/** Between two tries of a publish, which may hang. */
const TRY_MS = 250
/** Of an event for which there is no room. */
const MORE_BYTES = 50_000

/** Which nodes may take the next commit, and what mends the fault after that. */
interface Struck {
  next: readonly Node[]
  mend?: () => unknown
}

type Strikes = {
  [Kind in ClusterFault['kind']]: (
    world: World & { cluster: Cluster },
    primary: Node,
    fault: Extract<ClusterFault, { kind: Kind }>,
  ) => Promise<Struck>
}

const STRIKES: Strikes = {
  async 'primary killed'({ cluster: { nodes } }, primary) {
    await primary.kill()
    return { next: others(nodes, primary) }
  },

  async 'primary killed before late standbys'({ cluster: { nodes } }, primary, { by, ms }) {
    if (by === 'apply') {
      await Promise.all(others(nodes, primary).map((node) => applyLate(node, '1min')))
      await setTimeout(ms)
      await primary.kill()
      // The next primary applies the rest when it takes over.
      return { next: others(nodes, primary), mend: () => Promise.all(nodes.map(applyAtOnce)) }
    }
    const end = primary.holdBack()
    await setTimeout(ms)
    await primary.kill()
    end(true)
    // Patroni may find that no standby has enough, and starts it again.
    return { next: nodes }
  },

  async switchover({ cluster }, primary) {
    await cluster.switchover()
    return { next: others(cluster.nodes, primary) }
  },

  async 'primary hangs'({ cluster: { nodes } }, primary) {
    return { next: others(nodes, primary), mend: primary.freeze() }
  },

  async 'primary cut off'({ cluster: { nodes } }, primary, { from }) {
    return { next: others(nodes, primary), mend: primary.cutOff(from) }
  },

  async 'disk full'({ cluster: { nodes }, load, hosts, ledger, deadline }, primary, { ms }) {
    const room = await primary.fillDisk()
    if (!room) return { next: nodes }
    const until = performance.now() + ms
    const isRefused = () => [...ledger.refusals.keys()].some((text) => text.includes('disk'))
    // Small rows find room in the tables for long.
    let n = 0
    try {
      await deadline.until(
        'a publish that is refused for want of room',
        () => {
          void load.publishedBy(n++ % hosts.count, randomBytes(MORE_BYTES).toString('base64'))
          return performance.now() > until && isRefused()
        },
        TRY_MS,
      )
    } finally {
      await room()
    }
    // Postgres has refused statements, or ended when it had no room for its log.
    return { next: nodes }
  },
}

/** Resolves when the cluster is whole again. */
export async function strikeCluster(
  world: World,
  fault: ClusterFault,
  beside: () => Promise<unknown>,
): Promise<void> {
  const { deadline, ledger, hosts } = world
  const cluster = world.cluster!
  const isWhole = () =>
    deadline.until(`the whole cluster, ${fault.kind}`, () => cluster.isComplete(), 200)
  await isWhole()
  const primary = await deadline.until('a primary', () => cluster.primary())
  const from = performance.now()
  // Who suffers from another fault goes on when that is over.
  let calm = from
  const other = beside().finally(() => (calm = performance.now()))
  const { next, mend } = await STRIKES[fault.kind]({ ...world, cluster }, primary, fault as never)
  try {
    const commit = await deadline.until(`a commit after ${fault.kind}`, () => firstCommit(next))
    ledger.away.push({ kind: fault.kind, ms: commit - from })
    const goingOn = Array.from({ length: hosts.count }, async (_, host) => {
      const { published, delivered } = await goOn(world, host)
      const since = Math.max(commit, calm, hosts.listensSince(host))
      const [publishedMs, deliveredMs] = [published - since, delivered - since]
      ledger.moves.push({ kind: fault.kind, host, publishedMs, deliveredMs })
    })
    await Promise.all([...goingOn, other])
  } finally {
    await mend?.()
  }
  await isWhole()
  const until = performance.now()
  ledger.disturbances.push({ kind: 'crash', from, until })
  if (fault.kind === 'disk full') ledger.disturbances.push({ kind: 'disk full', from, until })
}

/** When a host publishes again, and what it has published is delivered. */
async function goOn(
  { load, ledger, deadline }: World,
  host: number,
): Promise<{ published: number; delivered: number }> {
  const first: { id?: string; at?: number } = {}
  await deadline.until(
    `a publish of host ${host}`,
    () => {
      void load.publishedBy(host).then((id) => {
        if (id !== null && !first.id) Object.assign(first, { id, at: performance.now() })
      })
      return first.id
    },
    TRY_MS,
  )
  await deadline.until(`a delivery of host ${host}`, () =>
    ledger.attempts.some(
      ({ webhook, event, end }) => webhook === 'plain' && event === first.id && end === 'answered',
    ),
  )
  return { published: first.at!, delivered: performance.now() }
}

const others = (nodes: readonly Node[], primary: Node): Node[] =>
  nodes.filter((node) => node !== primary)

const applyLate = (node: Node, delay: string) =>
  setOf(node, `alter system set recovery_min_apply_delay = '${delay}'`)

/** A node that does not run yet is asked again. */
async function applyAtOnce(node: Node): Promise<void> {
  for (;;) {
    try {
      return await setOf(node, 'alter system reset recovery_min_apply_delay')
    } catch {
      await setTimeout(200)
    }
  }
}

async function setOf({ url }: Node, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(statement)
    await client.query('select pg_reload_conf()')
  } finally {
    client.end().catch(() => {})
  }
}
