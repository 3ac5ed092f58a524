import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import Fastify from 'fastify'
import { createSvc, svcCore, type DatabaseConfig } from '../../../packages/core/src/index.ts'
import {
  addressOf,
  clientOf,
  configOf,
} from '../../../packages/core/src/postgres/connection-config.ts'
import { emptyDatabase, freshDatabase } from '../../support/fresh-database.ts'
import { startPostgres } from '../../support/postgres.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { until } from '../../support/until.ts'
import { startPair } from '../../faults/pair.ts'
import { listening } from '../../support/listening.ts'

const lists: [given: string | DatabaseConfig, hosts: string][] = [
  ['postgres://u:p@h1:5432,h2:5433/db', 'h1:5432, h2:5433'],
  ['postgres://u:p@h1,h2/db?target_session_attrs=read-write', 'h1:5432, h2:5432'],
  [
    'postgres://u:p%40%2Fs,s@[::1]:6432,[2001:db8::1],db-3/db',
    '[::1]:6432, [2001:db8::1]:5432, db-3:5432',
  ],
  ['postgres://%2Frun%2Fpg,h2/db?target_session_attrs=any', '/run/pg, h2:5432'],
  ['postgres:///db?host=h1,h2&port=5432,5433', 'h1:5432, h2:5433'],
  ['postgres://h1:1,h2/db?port=5433', 'h1:5433, h2:5433'],
  ['postgres://h1,h2/db?port=5433,5434', 'h1:5433, h2:5434'],
  ['postgres://u:p@h1/db?target_session_attrs=primary', 'h1:5432'],
  [{ host: ['h1', 'h2'], port: [5432, 5433] }, 'h1:5432, h2:5433'],
  [{ host: ['h1', 'h2', '[::1]'], port: 6432 }, 'h1:6432, h2:6432, [::1]:6432'],
  [{ host: ['h1'] }, 'h1:5432'],
  [{ connectionString: 'postgres://u:p@h1:1,h2:2/db' }, 'h1:1, h2:2'],
]
for (const [given, hosts] of lists) {
  t.test(`${JSON.stringify(given)} is a list of hosts`, async (t) => {
    t.equal(addressOf(configOf(given)), hosts)
  })
}

t.test('user, password, database and settings of a list are those of the URL', async (t) => {
  const config = configOf('postgres://us%40er:p%40%2Fs,s@h1,h2/my%20db?application_name=orders')
  t.match(config, {
    user: 'us@er',
    password: 'p@/s,s',
    database: 'my db',
    application_name: 'orders',
  })
  const password = () => 'rotated'
  for (const given of [
    { host: ['h1', 'h2'] },
    { host: 'h1' },
    { connectionString: 'postgres://u@h1/db' },
    { connectionString: 'postgres://u@h1,h2/db' },
  ]) {
    const { password: asked } = configOf({ ...given, password })
    t.equal(await (asked as () => Promise<string>)(), 'rotated', JSON.stringify(given))
  }
  t.match(configOf({ connectionString: 'postgres://u@h1:7/db', password: 'p', max: 3 }), {
    host: 'h1',
    port: '7',
    user: 'u',
    password: 'p',
    max: 3,
  })
})

const refused: [given: unknown, why: RegExp][] = [
  ['postgres://h1,h2/db?target_session_attrs=standby', /target_session_attrs must be "read-write"/],
  ['postgres://h1,h2/db?target_session_attrs=read-only', /takes no writes/],
  ['postgres://h1/db?target_session_attrs=prefer-standby', /takes no writes/],
  [{ host: ['h1', 'h2'], target_session_attrs: 'standby' }, /takes no writes/],
  ['postgres://h1,h2:99999/db', /port from 1 to 65535/],
  ['postgres://h1:99999,h2/db', /port from 1 to 65535/],
  ['postgres://h1:abc,h2/db', /port from 1 to 65535/],
  ['postgres://::1:5432,h2/db', /of IPv6 in brackets/],
  ['postgres://h1,/db', /must have a name/],
  ['postgres://h1,h2/db?host=h3,h4', /name them once/],
  ['postgres://h1,h2/db?port=1,2,3', /2 hosts and 3 ports/],
  ['postgres://h1/db?port=1,2', /1 hosts and 2 ports/],
  [{ host: 'h1', port: [1, 2] }, /1 hosts and 2 ports/],
  [{ host: ['h1:5432', 'h2:5432'] }, /must have a name/],
  [{ connectionString: 'postgres://h1/db', host: ['h1', 'h2'] }, /"host" is not used/],
  [{ connectionString: 'postgres://h1/db', port: 1 }, /"port" is not used/],
  [{ connectionString: 'postgres://u:p@h1/db', password: () => 'p' }, /"password" is not used/],
  ['postgres://h1,::1/db', /of IPv6 in brackets/],
  [{ host: [] }, /must have a name/],
  [{ host: ['h1', 7] }, /must have a name/],
  [{ host: ['h1', 'h2'], port: [1, 2, 3] }, /2 hosts and 3 ports/],
  ['postgres://u:pa@ss/word@h1,h2/db', /percent-encoded/],
  ['postgres://h1/db?sslrootcert=/nowhere.pem', /nowhere\.pem.*check sslrootcert/],
  ['postgres://h1/db?sslmode=bogus', /sslmode must be one of disable, .*, no-verify:/],
  [
    'postgres://h1,h2/db?uselibpqcompat=true&sslmode=no-verify',
    /sslmode must be one of disable, prefer, require, verify-ca, verify-full:/,
  ],
  [
    'postgres://h1/db?uselibpqcompat=true&sslmode=verify-ca',
    /sslmode=verify-ca needs the file of a CA in sslrootcert/,
  ],
]
for (const [given, why] of refused) {
  t.test(`${JSON.stringify(given)} is refused`, async (t) => {
    t.throws(() => configOf(given as string), { code: 'SVC_CORE_INVALID_OPTION', message: why })
  })
}

/** The URL of `database` with these hosts in place of its own. */
function withHosts(database: string, hosts: string[], attributes = ''): string {
  const { host } = new URL(database)
  return database.replace(host, hosts.join(',')) + attributes
}

const silentServer = async (t: Tap): Promise<string> =>
  `127.0.0.1:${await listening(
    t,
    createServer(() => {}),
  )}`

/** Asks for a password as Postgres does, and says in an error which one it was given. */
async function serverThatAsks(t: Tap): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(Buffer.from('R\0\0\0\x08\0\0\0\x03', 'latin1'))
      socket.once('data', (bytes) => {
        const fields = `SFATAL\0C28P01\0Mpassword ${bytes.subarray(5, -1).toString()}\0\0`
        const head = Buffer.from('E\0\0\0\0')
        head.writeInt32BE(fields.length + 4, 1)
        socket.end(Buffer.concat([head, Buffer.from(fields)]))
      })
    })
  })
  return `127.0.0.1:${await listening(t, server)}`
}

const LET_IN = 'R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I'
const SHUT_DOWN = 'E\0\0\0\x19SFATAL\0C57P01\0Mends\0\0'

/** Signs each client in. Then it ends the session: at the first statement, or at once with the error of a shutdown. */
async function serverThatEnds(t: Tap, { isShutDown = false } = {}): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(Buffer.from(isShutDown ? LET_IN + SHUT_DOWN : LET_IN, 'latin1'))
      if (isShutDown) socket.end()
      else socket.once('data', () => socket.destroy())
    })
  })
  return `127.0.0.1:${await listening(t, server)}`
}

type Tap = { teardown(end: () => void): unknown }

t.test('a session that ends before it tells whether it takes writes ends no process', async (t) => {
  const database = await emptyDatabase(t)
  const hosts = [await serverThatEnds(t), new URL(database).host]
  const pool = new pg.Pool(configOf(withHosts(database, hosts)))
  t.teardown(() => pool.end())
  t.match((await pool.query('select 1 as one')).rows, [{ one: 1 }], 'the other host is used')
})

t.test('a server that shuts down as it lets a client in ends no process', async (t) => {
  const address = await serverThatEnds(t, { isShutDown: true })
  const pool = new pg.Pool(configOf({ connectionString: `postgres://a:b@${address}/c` }))
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  await t.rejects(pool.query('select 1'))
})

t.test('a connection is made to the first host that takes writes', async (t) => {
  const database = await emptyDatabase(t)
  const readOnly = await emptyDatabase(t)
  const admin = new pg.Client(readOnly)
  await admin.connect()
  await admin.query(
    `alter database ${new URL(readOnly).pathname.slice(1)} set default_transaction_read_only = on`,
  )
  await admin.end()
  const { host } = new URL(database)
  const silent = await silentServer(t)

  const url = withHosts(database, ['127.0.0.1:1', silent, host])
  const client = clientOf({ ...configOf(url), connectionTimeoutMillis: 3000 })
  const started = performance.now()
  await client.connect()
  t.equal(`${client.host}:${client.port}`, host)
  t.ok(performance.now() - started < 3000, 'within the limit of one connection')
  t.match((await client.query('select 1 as one')).rows, [{ one: 1 }])
  await client.end()

  const only = clientOf(configOf(withHosts(readOnly, [silent, host])))
  await only.connect()
  t.equal(`${only.host}:${only.port}`, host, 'reads go to a primary that takes no writes')
  await t.rejects(only.query('create table one ()'), { code: '25006' })
  await only.end()
  const any = clientOf(
    configOf(withHosts(readOnly, ['127.0.0.1:1', host], '?target_session_attrs=any')),
  )
  await any.connect()
  await any.end()
  const nobody = clientOf(configOf(withHosts(database, ['127.0.0.1:1', '127.0.0.1:2'])))
  await t.rejects(nobody.connect(), { code: 'ECONNREFUSED' })
})

t.test('what each host has answered is told, and the one that is away decides', async (t) => {
  const pair = await startPostgres({}, { standby: 'late' })
  t.teardown(() => pair.stop())
  const standby = new URL(pair.standby!).host
  const hostsOf = (...hosts: string[]) => clientOf(configOf(withHosts(pair.url, hosts)))
  await t.rejects(hostsOf('127.0.0.1:1', standby).connect(), {
    code: 'ECONNREFUSED',
    message: `no host takes writes (127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; ${standby}: only reads)`,
  })
  await t.rejects(hostsOf(standby, standby).connect(), {
    code: '25006',
    message: `no host takes writes (${standby}: only reads; ${standby}: only reads)`,
  })
})

t.test('a function that gives the password may take longer than the share of a host', async (t) => {
  const asking = new URL(`http://${await serverThatAsks(t)}`)
  const taking = (ms: number) =>
    clientOf({
      ...configOf({
        host: [asking.hostname, '127.0.0.1'],
        port: [Number(asking.port), 1],
        user: 'app',
        password: () => wait(ms, 'one', { ref: false }),
      }),
      connectionTimeoutMillis: 2000,
    })
  await t.rejects(taking(1200).connect(), { message: /password one/ })
  await t.rejects(taking(60_000).connect(), {
    code: 'ETIMEDOUT',
    message: /the function that gives the password has not answered within \d+ ms/,
  })
})

t.test(
  'no connection for reading stays with a server, or begins, once another one takes the writes',
  async (t) => {
    const { url, standbyUrl, first, standby } = await startPair(t)
    const [old, next] = [await proxyPostgres(t, url), await proxyPostgres(t, standbyUrl)]
    const config = configOf(withHosts(url, [new URL(old.url).host, new URL(next.url).host]))
    const earlier = clientOf(config)
    await earlier.connect()
    await earlier.end()
    await first.query('alter system set default_transaction_read_only = on')
    await first.query('select pg_reload_conf()')
    next.delay(100)
    const reader = clientOf(config)
    reader.on('error', () => {})
    const reading = reader.connect().catch(() => {})
    await until(() => next.connections() > 0)
    old.delay(300)
    await until(() => next.connections() === 0)
    // It connects to the first one, to read. Meanwhile the other one is promoted, and another client finds it.
    await standby.query('select pg_promote()')
    next.delay(0)
    const { hosts } = config
    hosts!.tryLast(hosts!.all[0]!)
    const writer = clientOf(config)
    writer.on('error', () => {})
    await writer.connect()
    await reading
    await until(() => old.connections() === 0)

    next.cut()
    await t.rejects(clientOf(config).connect(), { message: /^no host takes writes/ })
  },
)

t.test('a process whose host is gone goes on with the other one of its list', async (t) => {
  const database = await freshDatabase(t)
  const [first, second] = [await proxyPostgres(t, database), await proxyPostgres(t, database)]
  const url = withHosts(database, [new URL(first.url).host, new URL(second.url).host])
  const svc = await createSvc({ core: { database: url, worker: { enabled: true } } })
  t.teardown(() => svc.close())
  t.ok(first.connections() > 0)
  t.ok(second.connections() <= 1, 'which asks whether it has taken over')
  first.cut()
  await until(async () => {
    const published = await svc.events.publish('order.created', {}).catch(() => undefined)
    return published !== undefined && (await svc.health()).ok
  })
  t.ok(second.connections() >= 3, 'pools, jobs and listener')

  second.cut()
  await t.rejects(svc.events.publish('order.created', {}), { code: 'SVC_UNAVAILABLE' })
  first.mend()
  await until(async () => (await svc.health()).ok)
})

t.test('a boot while no host of the list takes writes waits for one that does', async (t) => {
  const pair = await startPair(t)
  pair.kill()
  const lines: string[] = []
  const app = Fastify({
    logger: { level: 'warn', stream: { write: (line: string) => void lines.push(line) } },
  })
  t.teardown(() => app.close())
  const hosts = [pair.url, pair.standbyUrl].map((url) => new URL(url).host)
  void app.register(svcCore, { database: withHosts(pair.url, hosts) })
  const booting = app.ready()
  await until(() => lines.some((line) => line.includes('waiting 30 seconds for one')))
  await pair.standby.query('select pg_promote()')
  await booting
  await app.svc.events.publish('order.created', {})
})

t.test('a boot that reaches none of its hosts names them all, and not the password', async (t) => {
  await t.rejects(
    createSvc({ core: { database: 'postgres://u:pass-9@127.0.0.1:1,127.0.0.1:2/db' } }),
    {
      code: 'SVC_CORE_DATABASE_UNREACHABLE',
      message: /^(?!.*pass-9).*127\.0\.0\.1:1, 127\.0\.0\.1:2/,
    },
  )
})
