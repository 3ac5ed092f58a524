/** Makes a fault happen. */
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { Cluster } from './cluster/cluster.ts'
import { strikeCluster } from './cluster/strike.ts'
import type { Deadline } from './deadline.ts'
import type { Hosts } from './hosts.ts'
import type { Ledger } from './ledger.ts'
import type { Load } from './load.ts'
import type { Network } from './network.ts'
import type { StormReceiver } from './receiver.ts'
import type { Fault, HostFault } from './schedule.ts'

export interface World {
  hosts: Hosts
  /** Between the hosts and Postgres. */
  network: Network
  /** Past the network's faults. */
  direct: pg.Pool
  /** Shuts Postgres down at once, and starts it again; not in a cluster. */
  restart: (() => void) | null
  cluster: Cluster | null
  /** How many a schedule has. */
  faults: number
  load: Load
  receiver: StormReceiver
  ledger: Ledger
  deadline: Deadline
}

type Strikes = {
  [Kind in HostFault['kind']]: (
    world: World,
    fault: Extract<HostFault, { kind: Kind }>,
  ) => Promise<unknown>
}

const DELAY_MS = 200

/** Resolves when the fault is over. */
export function strike(world: World, fault: Fault): Promise<unknown> {
  if (isOfHosts(fault)) return STRIKES[fault.kind](world, fault as never)
  const { beside } = fault
  return strikeCluster(world, fault, async () => beside && strike(world, beside))
}

const isOfHosts = (fault: Fault): fault is HostFault => fault.kind in STRIKES

const STRIKES: Strikes = {
  kill: ({ hosts }, { host }) => hosts.replace(host),

  'wrong clock': ({ hosts }, { host, offsetMs }) => hosts.replace(host, { offsetMs }),

  'clock step': async ({ hosts }, { host, offsetMs }) => hosts.setClock(host, offsetMs),

  'other options': ({ hosts }, { host }) => hosts.replace(host, { isOther: true }),

  'older version'({ hosts, ledger }, { host }) {
    // What it has published may wait until the end.
    if (hosts.hasOlder) {
      ledger.disturbances.push({ kind: 'older version', from: performance.now(), until: Infinity })
    }
    return hosts.replace(host, { isOlder: true })
  },

  async freeze({ hosts, ledger }, { host, ms }) {
    const from = performance.now()
    hosts.signal(host, 'SIGSTOP')
    await setTimeout(ms)
    hosts.signal(host, 'SIGCONT')
    ledger.disturbances.push({ kind: 'freeze', from, until: performance.now() })
  },

  cut: ({ network }, { ms }) => network.suffer(ms, (proxy) => proxy.cut()),

  async partition({ network, ledger }, { host, ms }) {
    const from = performance.now()
    await network.suffer(ms, (proxy) => proxy.cut(), host)
    ledger.disturbances.push({ kind: 'partition', from, until: performance.now() })
  },

  reset: async ({ network }) => network.reset(),

  silence: ({ network }, { ms }) => network.suffer(ms, (proxy) => proxy.silence()),

  slow: ({ network }, { ms }) => network.suffer(ms, (proxy) => proxy.delay(DELAY_MS)),

  'slow commits': ({ network }, { ms, lateMs }) =>
    network.suffer(ms, (proxy) => proxy.slowCommits(lateMs)),

  terminate: ({ direct }, { oneIn }) =>
    direct
      .query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where pid <> pg_backend_pid() and backend_type = 'client backend' and pid % $1 = 0`,
        [oneIn],
      )
      .catch(() => {}),

  async crash(world) {
    const { rows } = await world.direct
      .query<{ pid: number }>('select pg_backend_pid() as pid')
      .catch(() => ({ rows: [] }))
    const [backend] = rows
    if (!backend) return
    await untilBack(world, () => process.kill(backend.pid, 'SIGKILL'))
  },

  async restart(world) {
    const before = await startOf(world)
    await untilBack(world, () => world.restart?.(), before ?? '')
  },

  async receiver({ receiver }, { answer, ms }) {
    receiver.answer = answer
    await setTimeout(ms)
    receiver.answer = 'ok'
  },
}

/** When the server was started; `null` while it is away. */
const startOf = ({ direct }: World): Promise<string | null> =>
  direct
    .query<{ at: string }>('select pg_postmaster_start_time()::text as at')
    .then(({ rows }) => rows[0]!.at)
    .catch(() => null)

async function untilBack(world: World, end: () => void, before = ''): Promise<void> {
  const from = performance.now()
  try {
    end()
    await world.deadline.until('the return of Postgres', async () => {
      const start = await startOf(world)
      return start !== null && start !== before
    })
  } finally {
    world.ledger.disturbances.push({ kind: 'crash', from, until: performance.now() })
  }
}
