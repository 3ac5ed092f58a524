/** A PgBouncer in transaction mode, where one is installed: it comes with most systems' packages. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unprivilegedUser } from './postgres/user.ts'
import { freePort } from './program.ts'

const installed = ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find((file) => existsSync(file))

/** For tap's option `skip`: false, or why. */
export const withoutPgBouncer =
  installed === undefined && 'no PgBouncer is installed (apt-get install pgbouncer)'

/**
 * Starts one in front of a database; it ends with the test.
 *
 * @param settings over those that make it pool transactions
 * @returns a connection string to the same database
 */
export async function startPgBouncer(
  t: { teardown(end: () => unknown): unknown },
  database: string,
  settings: Record<string, string> = {},
): Promise<string> {
  const direct = new URL(database)
  const name = direct.pathname.slice(1)
  const user = await unprivilegedUser() // it does not run as root
  const folder = await mkdtemp(join(await realpath('/tmp'), 'svc-pgbouncer-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const port = await freePort()
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: '5',
    ...settings,
  }
  const file = join(folder, 'pgbouncer.ini')
  const target = [
    `host=${direct.hostname} port=${direct.port || 5432} dbname=${name}`,
    `user=${decodeURIComponent(direct.username)} password=${decodeURIComponent(direct.password)}`,
  ]
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${value}`)
  // The password is for the user whom it runs as alone.
  await writeFile(
    file,
    ['[databases]', `${name} = ${target.join(' ')}`, '[pgbouncer]', ...lines, ''].join('\n'),
    { mode: 0o600 },
  )
  if (user.uid !== undefined) {
    await chown(folder, user.uid, user.gid)
    await chown(file, user.uid, user.gid)
  }
  const pooler = spawn(installed!, [file], { stdio: ['ignore', 'ignore', 'pipe'], ...user })
  const exited = once(pooler, 'exit')
  t.teardown(async () => {
    pooler.kill('SIGKILL')
    await exited
  })
  let log = ''
  const isUp = Promise.withResolvers<void>()
  pooler.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log = (log + chunk).slice(-4000)
    if (log.includes('process up')) isUp.resolve()
  })
  void exited.then(() => isUp.reject(new Error(`PgBouncer ended at its start:\n${log}`)))
  await isUp.promise
  const url = new URL(`postgres://127.0.0.1:${port}/${name}`)
  url.username = direct.username
  return url.href
}
