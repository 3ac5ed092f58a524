/**
 * Postgres servers under Patroni, with etcd, behind HAProxy: where these programs are installed. Each server is
 * reached through gates, which can be shut, and has its files in a small disk of its own where mounts are allowed.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  open,
  readFile,
  realpath,
  rm,
  writeFile,
} from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { unprivilegedUser, type User } from '../../support/postgres/user.ts'
import { freePort } from '../../support/program.ts'
import { Deadline } from '../deadline.ts'
import { startGate, type Gate } from './gate.ts'
import { processesIn, signal } from './processes.ts'

/** What is needed of tap's `t`. */
export interface Owner {
  teardown(end: () => unknown): unknown
}

/** Of Patroni another one than that of the system can be named. */
const programs = [process.env['SVC_PATRONI'] ?? 'patroni', 'etcd', 'haproxy'].map((name) =>
  ['/usr/bin', '/usr/sbin', '/usr/local/bin']
    .map((at) => resolve(at, name))
    .find((at) => existsSync(at)),
)
const [patroni, etcd, haproxy] = programs
const VERSIONS = '/usr/lib/postgresql'
const bin =
  existsSync(VERSIONS) &&
  readdirSync(VERSIONS)
    .map((version) => join(VERSIONS, version, 'bin'))
    .findLast((at) => existsSync(join(at, 'pg_rewind')))

/** For tap's option `skip`: false, or why. */
export const withoutCluster =
  (programs.includes(undefined) || !bin) &&
  'Patroni, etcd, HAProxy or the programs of Postgres are missing (apt-get install patroni etcd-server haproxy postgresql)'

/** For PgBouncer before it, which by default waits for 15 s after a server that it cannot reach. */
export const AT_ONCE = { server_login_retry: '1' }

const PASSWORD = 'of-the-cluster'
const STARTED_WITHIN_MS = 120_000
/** Room for the log of some storms. It takes memory as far as it is used. */
const DISK = '512m'
const FILL_BYTES = 1 << 20

export interface Node {
  name: string
  /** Past all gates. */
  url: string
  /** Kills the server, as a machine that loses its memory. Patroni starts it again, or another one takes over. */
  kill(): Promise<void>
  /** Freezes server and manager, as a machine that hangs. The function lets them go on. */
  freeze(): () => void
  /** From etcd alone, or from clients and other nodes as well. The function mends it. */
  cutOff(from: 'etcd' | 'all'): () => void
  /** What it writes does not reach its standbys. The function ends that; `isLost`: what was under way is lost. */
  holdBack(): (isLost: boolean) => void
  /** Fills its disk until the function is called. `null` where it has no disk of its own: mounts are not allowed. */
  fillDisk(): Promise<() => Promise<void>> | null
}

export interface Cluster {
  nodes: readonly Node[]
  isSynchronous: boolean
  /** The ports of all nodes, for a list. */
  ports: readonly string[]
  /** Of a list or a proxy: a connection string to these ports. */
  urlOf(...ports: string[]): string
  /** The port of HAProxy, which leads to the primary. */
  proxyPort: string
  /** The node that takes writes, by its own word and that of Patroni. */
  primary(): Promise<Node | undefined>
  /** All nodes run and follow the primary, and one of them has each of its commits where it is synchronous. */
  isComplete(): Promise<boolean>
  /** The primary hands over to another node. */
  switchover(): Promise<void>
}

export interface ClusterOptions {
  /** Of servers. */
  count?: number
  isSynchronous?: boolean
}

export async function startCluster(
  owner: Owner,
  { count = 3, isSynchronous = true }: ClusterOptions = {},
): Promise<Cluster> {
  const user = await unprivilegedUser()
  const folder = await mkdtemp(join(await realpath('/tmp'), 'svc-cluster-'))
  await give(folder, user)
  // It ends all that runs in the folder, if this process dies as well: Patroni's servers are in sessions of their own.
  const end = spawn(process.execPath, [join(import.meta.dirname, 'processes.ts'), folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  const ended = once(end, 'exit')
  owner.teardown(async () => {
    end.stdin.end()
    await ended
  })
  const deadline = new Deadline(STARTED_WITHIN_MS)
  const [clientPort, peerPort] = [await freePort(), await freePort()]
  const store = `http://127.0.0.1:${clientPort}`
  run(user, folder, [
    etcd!,
    '--name=one',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${store}`,
    `--advertise-client-urls=${store}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-cluster=one=http://127.0.0.1:${peerPort}`,
    '--unsafe-no-fsync',
  ])
  await deadline.until('etcd', () => isOk(`${store}/health`))

  const hasDisks = await mayMount(folder)
  const given = { owner, folder, user, store: clientPort, isSynchronous, hasDisks }
  const nodes: Managed[] = []
  for (let n = 0; n < count; n++) {
    const node = await startNode(given, n)
    // The first one makes the database, and the others copy it.
    await deadline.until(`the server of ${node.name}`, () => isOk(`${node.rest}/health`), 200)
    nodes.push(node)
  }
  const isComplete = async () => isWhole(await membersOf(nodes), count, isSynchronous)
  await deadline.until('the whole cluster', isComplete, 200)

  const proxyPort = await freePort()
  const servers = nodes.map(
    ({ name, clients, restGate }) =>
      `  server ${name} 127.0.0.1:${clients.port} check port ${restGate.port}`,
  )
  await writeFile(
    join(folder, 'haproxy.cfg'),
    [
      'defaults',
      '  mode tcp',
      '  timeout connect 2s',
      '  timeout client 1h',
      '  timeout server 1h',
      'listen primary',
      `  bind 127.0.0.1:${proxyPort}`,
      '  option httpchk OPTIONS /primary',
      '  http-check expect status 200',
      '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
      ...servers,
      '',
    ].join('\n'),
  )
  run(user, folder, [haproxy!, '-db', '-f', join(folder, 'haproxy.cfg')])

  const primary = async () => {
    for (const node of nodes) if (await isOk(`${node.rest}/primary`)) return node
    return undefined
  }
  const urlOf = (...ports: string[]) =>
    `postgres://postgres:${PASSWORD}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres`
  // At first HAProxy takes all servers for primaries, and gives each the next connection in turn.
  await deadline.until('HAProxy', async () => {
    for (const _ of nodes) if (!(await firstCommit([{ url: urlOf(proxyPort) }]))) return false
    return true
  })
  return {
    nodes,
    isSynchronous,
    ports: nodes.map(({ clients }) => clients.port),
    urlOf,
    proxyPort,
    primary,
    isComplete,
    async switchover() {
      const leader = await primary()
      const body = JSON.stringify({ leader: leader?.name })
      const answer = await fetch(`${leader?.rest}/switchover`, { method: 'POST', body })
      if (!answer.ok) throw new Error(`the switchover was refused: ${await answer.text()}`)
    },
  }
}

interface Given {
  owner: Owner
  folder: string
  user: User
  /** The port of etcd. */
  store: string
  isSynchronous: boolean
  hasDisks: boolean
}

type Managed = Node & {
  /** Of Patroni, past all gates. */
  rest: string
  clients: Gate
  restGate: Gate
}

async function startNode(
  { owner, folder, user, store, isSynchronous, hasDisks }: Given,
  n: number,
): Promise<Managed> {
  const name = `node${n}`
  const home = join(folder, name)
  await mkdir(home)
  await give(home, user)
  const [port, restPort] = [await freePort(), await freePort()]
  const clients = await startGate(owner, port)
  const standbys = await startGate(owner, port)
  const restGate = await startGate(owner, restPort)
  const storeGate = await startGate(owner, store)
  const data = join(home, 'data')
  const settings = {
    scope: 'svc',
    name,
    restapi: {
      listen: `127.0.0.1:${restPort}`,
      connect_address: `127.0.0.1:${restGate.port}`,
    },
    // It does not ask etcd for its addresses, which lead past the gate.
    etcd3: { hosts: `127.0.0.1:${storeGate.port}`, use_proxies: true },
    bootstrap: {
      dcs: {
        // The shortest that Patroni takes.
        ttl: 20,
        loop_wait: 1,
        retry_timeout: 3,
        // Without synchronous replication commits are lost: the storm wants to see some.
        maximum_lag_on_failover: isSynchronous ? 0 : 1 << 30,
        // A server that has died is not waited for.
        primary_start_timeout: 0,
        synchronous_mode: isSynchronous,
        postgresql: {
          use_pg_rewind: true,
          parameters: {
            max_connections: 200,
            wal_keep_size: '64MB',
            max_wal_size: '96MB',
            min_wal_size: '32MB',
            fsync: false,
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${standbys.port}`,
      data_dir: data,
      bin_dir: bin,
      pgpass: join(home, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password: PASSWORD },
        replication: { username: 'replicator', password: PASSWORD },
      },
      parameters: { unix_socket_directories: home },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 md5',
        'host replication all 127.0.0.1/32 md5',
      ],
    },
  }
  const file = join(folder, `${name}.yml`)
  // JSON is YAML.
  await writeFile(file, JSON.stringify(settings), { mode: 0o600 })
  if (user.uid !== undefined) await chown(file, user.uid, user.gid)
  const manager = hasDisks
    ? run({}, folder, inOwnDisk(home, user, [patroni!, file]))
    : run(user, home, [patroni!, file])
  /** The disk is in the name space of the manager's mounts. */
  const within = (path: string) => (hasDisks ? `/proc/${manager.pid}/root${path}` : path)
  return {
    name,
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    rest: `http://127.0.0.1:${restPort}`,
    clients,
    restGate,
    async kill() {
      const text = await readFile(within(join(data, 'postmaster.pid')), 'utf8')
      signal([Number(text.split('\n')[0])], 'SIGKILL')
    },
    freeze() {
      const all = processesIn(home)
      signal(all, 'SIGSTOP')
      return () => signal(all, 'SIGCONT')
    },
    cutOff(from) {
      const gates = from === 'etcd' ? [storeGate] : [storeGate, clients, standbys, restGate]
      for (const gate of gates) gate.shut()
      return () => {
        for (const gate of gates) gate.open()
      }
    },
    holdBack() {
      standbys.shut()
      return (isLost) => {
        if (isLost) standbys.drop()
        standbys.open()
      }
    },
    fillDisk: () => (hasDisks ? fill(within(join(home, 'filler'))) : null),
  }
}

/** @returns what makes room again, when there is no more */
async function fill(path: string): Promise<() => Promise<void>> {
  const file = await open(path, 'w')
  const isDone = new AbortController()
  const isFull = Promise.withResolvers<void>()
  const filling = (async () => {
    // What the server frees meanwhile is taken as well.
    for (let size = FILL_BYTES; !isDone.signal.aborted;) {
      try {
        await file.write(Buffer.alloc(size, 1))
      } catch {
        isFull.resolve()
        if (size > 1) size >>= 1
        else await setTimeout(20)
      }
    }
  })()
  await isFull.promise
  return async () => {
    isDone.abort()
    await filling
    await file.close()
    await rm(path)
  }
}

/** The command in a name space of mounts of its own, which ends with it, in a small disk at `home`. */
const inOwnDisk = (home: string, { uid, gid }: User, command: readonly string[]): string[] => [
  'unshare',
  '--mount',
  '--propagation=private',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${DISK},mode=0700,uid=${uid},gid=${gid} svc "$0" && cd "$0" && HOME="$0" exec setpriv --reuid=${uid} --regid=${gid} --clear-groups "$@"`,
  home,
  ...command,
]

/** Whether this machine lets us make disks: root may, in most containers. */
async function mayMount(folder: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const mount = ['mount', '-t', 'tmpfs', 'svc', folder]
  return promisify(execFile)('unshare', ['--mount', '--propagation=private', ...mount]).then(
    () => true,
    () => false,
  )
}

interface Member {
  role: string
  state: string
  timeline?: number
  lag?: number | string
}

/** What a node that answers says of all of them. */
async function membersOf(nodes: readonly { rest: string }[]): Promise<Member[]> {
  for (const { rest } of nodes) {
    const answer = await fetch(`${rest}/cluster`, { signal: AbortSignal.timeout(1000) }).catch(
      () => undefined,
    )
    if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members
  }
  return []
}

function isWhole(members: readonly Member[], count: number, isSynchronous: boolean): boolean {
  const leader = members.find(({ role, state }) => role === 'leader' && state === 'running')
  const standbys = members.filter(
    ({ role, state, timeline, lag }) =>
      role !== 'leader' &&
      (state === 'running' || state === 'streaming') &&
      timeline === leader?.timeline &&
      lag === 0,
  )
  return (
    leader !== undefined &&
    standbys.length === count - 1 &&
    (!isSynchronous || standbys.some(({ role }) => role === 'sync_standby'))
  )
}

/** When one of the nodes takes a commit; `null` if none does. */
export async function firstCommit(nodes: readonly Pick<Node, 'url'>[]): Promise<number | null> {
  const tries = nodes.map(async ({ url }) => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 1000,
      query_timeout: 1000,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('create table if not exists public.probe (n int)')
      await client.query('insert into public.probe values (1)')
      return performance.now()
    } finally {
      client.end().catch(() => {})
    }
  })
  return Promise.any(tries).catch(() => null)
}

const isOk = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  )

function run(user: User, cwd: string, [program, ...args]: string[]): ChildProcess {
  return spawn(program!, args, {
    cwd,
    stdio: process.env['SVC_CLUSTER_LOG'] ? 'inherit' : 'ignore',
    ...user,
    env: { PATH: process.env['PATH'], HOME: cwd },
  })
}

async function give(folder: string, { uid, gid }: User): Promise<void> {
  if (uid !== undefined) await chown(folder, uid, gid)
  await chmod(folder, 0o700)
}
