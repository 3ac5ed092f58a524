import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chown, rm, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

import { binariesFor } from './binaries.ts'
import type { User } from './user.ts'

export interface Cluster {
  folder: string
  /** Of the data. */
  data: string
  postgres: string
  password: string
}

/** No test needs its data after a crash of the machine, so nothing waits for the disk. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
}

export async function makeCluster(folder: string, data: string, user: User): Promise<Cluster> {
  const { initdb, postgres } = await binariesFor(user, folder)
  const { stdout } = await promisify(execFile)(postgres, ['--version'], { cwd: folder, ...user })
  const major = Number(/ (\d+)\./.exec(stdout)?.[1])
  // Loopback is open to every user of the machine, and a superuser may run programs: a password.
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password, { mode: 0o644 }) // the folder is closed to others
  const options = [
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--no-sync',
    '--no-instructions',
    ...(major >= 17
      ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
      : ['--locale=C.UTF-8']),
    // The password is random, and a test opens many connections: each would compute 4096 rounds.
    ...(major >= 16 ? ['--set=scram_iterations=1'] : []),
  ]
  await promisify(execFile)(initdb, [`--pgdata=${data}`, ...options], {
    cwd: folder,
    ...user,
  })
  return { folder, data, postgres, password }
}

export interface Server {
  url: string
  ended: Promise<unknown>
  stop(): Promise<void>
  /** As a machine that fails: nothing is shut down. */
  kill(): void
}

export async function startServer(
  cluster: Cluster,
  user: User,
  settings: Record<string, string>,
  attemptsLeft = 5,
): Promise<Server> {
  const port = await freePort()
  const flags = Object.entries({ ...SETTINGS, port: String(port), ...settings })
  const server = spawn(
    cluster.postgres,
    ['-D', cluster.data, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { cwd: cluster.folder, stdio: ['ignore', 'ignore', 'pipe'], ...user },
  )
  const ended = once(server, 'exit')
  let log = ''
  const ready = await new Promise<boolean>((resolve, reject) => {
    server.once('error', reject)
    server.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      log = (log + chunk).slice(-4000)
      if (/ready to accept (read-only )?connections/.test(log)) resolve(true)
    })
    // Not at its exit: what it said last may not have been read then.
    server.once('close', () => resolve(false))
  })
  // Another process may take the port between our check and the start of the server.
  const taken = !ready && log.includes('Address already in use')
  if (taken && attemptsLeft > 1) return startServer(cluster, user, settings, attemptsLeft - 1)
  if (!ready) throw new Error(`The embedded Postgres ended at its start:\n${log}`)

  return {
    url: `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`,
    ended,
    async stop() {
      server.kill('SIGQUIT')
      const late = setTimeout(() => server.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(late)
    },
    kill: () => void server.kill('SIGKILL'),
  }
}

/** Of a primary with a standby. */
export const REPLICATED = { wal_level: 'replica', max_wal_senders: '4' }

/**
 * A copy of a running server, which follows it. From then on no commit of the primary is acknowledged before the
 * standby has it, unless it may be late.
 */
export async function startStandby(
  cluster: Cluster,
  primary: Server,
  data: string,
  user: User,
  isLate: boolean,
): Promise<Server> {
  const client = new pg.Client(primary.url)
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', true)`)
    // With the owners of the files: the server may run as another user than this process.
    await promisify(execFile)('cp', ['-a', cluster.data, data])
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
    await rm(join(data, 'postmaster.pid'))
    const { hostname, port, password } = new URL(primary.url)
    const primaryIs = `host=${hostname} port=${port} user=postgres password=${password} application_name=standby`
    const files = {
      backup_label: rows[0].labelfile as string,
      'standby.signal': '',
      // Not as an argument: a test may take it away.
      'postgresql.auto.conf': `primary_conninfo = '${primaryIs}'\n`,
    }
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(data, name), text)
      if (user.uid !== undefined) await chown(join(data, name), user.uid, user.gid)
    }
    const standby = await startServer({ ...cluster, data }, user, REPLICATED)
    if (isLate) return standby
    await client.query(`alter system set synchronous_standby_names = 'standby'`)
    await client.query('select pg_reload_conf()')
    const isSync = async () =>
      (await client.query(`select from pg_stat_replication where sync_state = 'sync'`)).rowCount ===
      1
    while (!(await isSync())) await pause(20)
    return standby
  } finally {
    await client.end()
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
