/**
 * Postgres servers under Patroni, with etcd, and HAProxy before them: where these programs are installed
 * (`apt-get install patroni etcd-server haproxy postgresql`). Replication is synchronous.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { unprivilegedUser, type User } from './postgres/user.ts'
import { freePort } from './program.ts'
import { until } from './until.ts'

const programs = ['patroni', 'etcd', 'haproxy'].map((name) =>
  ['/usr/bin', '/usr/sbin', '/usr/local/bin']
    .map((at) => join(at, name))
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
export const withoutPatroni =
  (programs.includes(undefined) || !bin) &&
  'Patroni, etcd, HAProxy or the programs of Postgres are missing (apt-get install patroni etcd-server haproxy postgresql)'

const PASSWORD = 'of-the-cluster'

export interface Node {
  name: string
  url: string
  /** Kills the server, as a machine that loses its memory. Patroni starts it again, or another one takes over. */
  kill(): Promise<void>
  /** Freezes server and manager, as a machine that hangs. The function lets them go on. */
  freeze(): Promise<() => void>
}

export interface Cluster {
  nodes: readonly Node[]
  /** Of all nodes. */
  list: string
  /** Through HAProxy, which leads to the primary. */
  proxied: string
  /** The node that takes writes, by its own word and that of Patroni. */
  primary(): Promise<Node>
  /** Waits until all nodes run, and one of them has each commit of the primary. */
  complete(): Promise<void>
  /** The primary hands over to another node. */
  switchover(): Promise<void>
}

export async function startPatroni(t: Test, count = 3): Promise<Cluster> {
  const user = await unprivilegedUser()
  const folder = await mkdtemp('/tmp/svc-patroni-')
  await give(folder, user)
  // After the processes: tap runs teardowns in reverse order.
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const [clientPort, peerPort] = [await freePort(), await freePort()]
  const store = `http://127.0.0.1:${clientPort}`
  run(t, etcd!, user, folder, [
    '--name=one',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${store}`,
    `--advertise-client-urls=${store}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-cluster=one=http://127.0.0.1:${peerPort}`,
    '--unsafe-no-fsync',
  ])
  await until(() => isOk(`${store}/health`))

  const managed: (Node & { rest: string; port: string })[] = []
  for (let n = 0; n < count; n++) managed.push(await startNode(t, { n, folder, user, clientPort }))
  const isComplete = async () => {
    const members = await membersOf(managed)
    return members.length === count && members.some(({ role }) => role === 'sync_standby')
  }
  const complete = async () => void (await until(isComplete, Boolean, 500))
  await complete()

  const proxyPort = await freePort()
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
      ...managed.map(
        ({ name, port, rest }) =>
          `  server ${name} 127.0.0.1:${port} check port ${new URL(rest).port}`,
      ),
      '',
    ].join('\n'),
  )
  run(t, haproxy!, user, folder, ['-db', '-f', join(folder, 'haproxy.cfg')])

  const primary = async () => {
    const found = await until(
      async () => {
        for (const node of managed) if (await isOk(`${node.rest}/primary`)) return node
        return undefined
      },
      (node) => node !== undefined,
    )
    return found!
  }
  await primary()
  const hosts = managed.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    nodes: managed,
    list: `postgres://postgres:${PASSWORD}@${hosts}/postgres`,
    proxied: `postgres://postgres:${PASSWORD}@127.0.0.1:${proxyPort}/postgres`,
    primary,
    complete,
    async switchover() {
      const { name: leader, rest } = await primary()
      const body = JSON.stringify({ leader })
      const answer = await fetch(`${rest}/switchover`, { method: 'POST', body })
      if (!answer.ok) throw new Error(`the switchover was refused: ${await answer.text()}`)
    },
  }
}

async function startNode(
  t: Test,
  { n, folder, user, clientPort }: { n: number; folder: string; user: User; clientPort: string },
) {
  const name = `node${n}`
  const home = join(folder, name)
  await mkdir(home)
  await give(home, user)
  const [port, restPort] = [await freePort(), await freePort()]
  const data = join(home, 'data')
  const settings = {
    scope: 'svc',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: `127.0.0.1:${clientPort}` },
    bootstrap: {
      dcs: {
        // The shortest that Patroni takes.
        ttl: 20,
        loop_wait: 1,
        retry_timeout: 3,
        maximum_lag_on_failover: 0,
        // A server that has died is not waited for.
        primary_start_timeout: 0,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 200, wal_keep_size: '512MB', fsync: false },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
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
  const file = join(home, 'patroni.yml')
  // JSON is YAML.
  await writeFile(file, JSON.stringify(settings))
  const postmaster = async () =>
    Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0])
  t.teardown(async () => {
    await postmaster().then(
      (pid) => signal([pid], 'SIGKILL'),
      () => {},
    )
  })
  // Its teardown comes first: a manager starts a server that has died.
  const manager = run(t, patroni!, user, home, [file])
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`
  const rest = `http://127.0.0.1:${restPort}`
  await until(() => isOk(`${rest}/health`), Boolean, 500)
  return {
    name,
    url,
    port,
    rest,
    async kill() {
      signal([await postmaster()], 'SIGKILL')
    },
    async freeze() {
      const client = new pg.Client(url)
      await client.connect()
      const { rows } = await client.query(
        'select pid from pg_stat_activity where pid <> pg_backend_pid()',
      )
      await client.end()
      const all = [manager.pid!, await postmaster(), ...rows.map(({ pid }: { pid: number }) => pid)]
      signal(all, 'SIGSTOP')
      return () => signal(all, 'SIGCONT')
    },
  }
}

/** Those that run; one of them follows each commit, and may take over. */
async function membersOf([node]: readonly { rest: string }[]): Promise<{ role: string }[]> {
  const answer = await fetch(`${node!.rest}/cluster`).catch(() => undefined)
  if (!answer?.ok) return []
  const { members } = (await answer.json()) as { members: { state: string; role: string }[] }
  return members.filter(({ state }) => state === 'running' || state === 'streaming')
}

const isOk = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  )

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended meanwhile.
    }
  }
}

function run(t: Test, program: string, user: User, cwd: string, args: string[]): ChildProcess {
  const child = spawn(program, args, {
    cwd,
    stdio: process.env['SVC_PATRONI_LOG'] ? 'inherit' : 'ignore',
    ...user,
    env: { PATH: process.env['PATH'], HOME: cwd },
  })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return child
}

async function give(folder: string, { uid, gid }: User): Promise<void> {
  if (uid !== undefined) await chown(folder, uid, gid)
  await chmod(folder, 0o700)
}
