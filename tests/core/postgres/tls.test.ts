/** TLS to Postgres as managed services want it: a CA of their own, and certificates of clients. */
import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import t from 'tap'
import { createSvc } from '../../../packages/core/src/index.ts'
import { clientOf, configOf } from '../../../packages/core/src/postgres/connection-config.ts'
import { startPostgres } from '../../support/postgres.ts'
import { unprivilegedUser } from '../../support/postgres/user.ts'
import { until } from '../../support/until.ts'

const folder = await mkdtemp(join(tmpdir(), 'svc-tls-'))
await chmod(folder, 0o755)
t.teardown(() => rm(folder, { recursive: true }))
const at = (name: string) => join(folder, name)
const openssl = (...args: string[]) => promisify(execFile)('openssl', args, { cwd: folder })

/** A certificate of our CA. */
async function certify(name: string, subject: string, more: string[] = []): Promise<void> {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const of = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-days', '2', '-subj', `/CN=${subject}`]
  await openssl(
    'req',
    '-x509',
    ...key,
    ...of,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.pem`,
    ...more,
  )
  await chmod(at(`${name}.key`), 0o600)
}

t.test('what a connection string says of TLS holds', async (t) => {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await openssl(
    'req',
    '-x509',
    ...key,
    '-days',
    '2',
    '-subj',
    '/CN=our CA',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  )
  await certify('server', 'server', ['-addext', 'subjectAltName=IP:127.0.0.1'])
  await certify('client', 'certified')
  await writeFile(
    at('hba.conf'),
    'hostssl all certified 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n',
  )
  const { uid, gid } = await unprivilegedUser()
  if (uid !== undefined)
    for (const file of ['server.key', 'hba.conf']) await chown(at(file), uid, gid)
  const server = await startPostgres({
    ssl: 'on',
    ssl_cert_file: at('server.pem'),
    ssl_key_file: at('server.key'),
    ssl_ca_file: at('ca.pem'),
    hba_file: at('hba.conf'),
  })
  t.teardown(() => server.stop())
  const ca = `sslrootcert=${encodeURIComponent(at('ca.pem'))}`
  const byName = server.url.replace('127.0.0.1', 'localhost')
  const { port } = new URL(server.url)

  const connect = async (url: string) => {
    const client: pg.Client = clientOf(configOf(url))
    await client.connect()
    const { rows } = await client.query(
      `select current_user as "user" from pg_stat_ssl where pid = pg_backend_pid() and ssl`,
    )
    await client.end()
    return (rows[0] as { user: string }).user
  }
  t.equal(await connect(`${server.url}?sslmode=verify-full&${ca}`), 'postgres')
  t.equal(await connect(`${server.url}?sslmode=no-verify`), 'postgres')
  t.equal(await connect(`${server.url}?uselibpqcompat=true&sslmode=require`), 'postgres')
  t.equal(await connect(`${byName}?uselibpqcompat=true&sslmode=verify-ca&${ca}`), 'postgres')
  // Beside a CA, "require" is "verify-ca", in libpq as well.
  const require = 'uselibpqcompat=true&sslmode=require'
  t.equal(await connect(`${byName}?${require}&${ca}`), 'postgres')
  await t.rejects(
    connect(`${server.url}?${require}&sslrootcert=${encodeURIComponent(at('client.pem'))}`),
    /certificate/,
  )
  await t.rejects(connect(`${byName}?sslmode=verify-full&${ca}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
  for (const mode of ['require', 'verify-ca', 'verify-full']) {
    await t.rejects(
      connect(`${server.url}?sslmode=${mode}`),
      /certificate/,
      `${mode} without the CA`,
    )
  }
  await t.rejects(connect(server.url), { code: '28000', message: /no encryption/ })
  const list = server.url.replace('127.0.0.1', '127.0.0.1:1,127.0.0.1')
  t.equal(await connect(`${list}?sslmode=verify-full&${ca}`), 'postgres', 'with a list of hosts')

  const svc = await createSvc({ core: { database: `${server.url}?sslmode=verify-full&${ca}` } })
  t.teardown(() => svc.close())
  await svc.database.query('create role certified login')
  const own = ['cert', 'key'].map((what) => {
    const file = at(what === 'cert' ? 'client.pem' : 'client.key')
    return `ssl${what}=${encodeURIComponent(file)}`
  })
  const certified = `postgres://certified@127.0.0.1:${port}/postgres?sslmode=verify-full&${ca}`
  t.equal(await connect([certified, ...own].join('&')), 'certified')
  await t.rejects(connect(certified), { code: '28000' })
  await t.rejects(createSvc({ core: { database: `${server.url}?sslmode=verify-full` } }), {
    code: 'SVC_CORE_DATABASE_UNREACHABLE',
    message: /there is no TLS with Postgres at .*self-signed certificate.*check sslmode/,
  })

  const admin = clientOf(configOf(`${server.url}?sslmode=no-verify`))
  await admin.connect()
  t.teardown(() => admin.end())
  const files = await Promise.all(
    ['server.pem', 'server.key'].map(async (name) => [at(name), await readFile(at(name))] as const),
  )
  await openssl(
    'req',
    '-x509',
    ...key,
    '-days',
    '2',
    '-subj',
    '/CN=another CA',
    '-keyout',
    'server.key',
    '-out',
    'server.pem',
  )
  await admin.query('select pg_reload_conf()')
  await until(() =>
    connect(`${server.url}?sslmode=verify-full&${ca}`).then(
      () => false,
      () => true,
    ),
  )
  // Longer than a server that hangs has to answer.
  await svc.database.query('select pg_sleep(6)')
  t.pass('the connections that there are stay')
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  const NO_TLS = 'there is no TLS with the database, try again later'
  const refused = await until(
    () => svc.events.publish('order.created', {}).catch((error: unknown) => error),
    (answer) => (answer as Error).message === NO_TLS,
  )
  t.match(refused, { code: 'SVC_UNAVAILABLE', statusCode: 503 })
  t.match((await svc.health()).database, { ok: false, reason: NO_TLS })
  for (const [file, bytes] of files) await writeFile(file, bytes)
  await admin.query('select pg_reload_conf()')
  await until(async () => (await svc.health()).ok)
  await svc.events.publish('order.created', {})
})
