import { EventEmitter } from 'node:events'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { useCore } from '@svc/core/internal'
import Fastify from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase, emptyDatabaseWith, freshDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'
import { listening } from '../support/listening.ts'
import { newHost } from '../support/new-host.ts'

const advice = 'check the option "database" (by default the secret DATABASE_URL)'

async function boot(t: Test, options: SvcCoreOptions): Promise<void> {
  const app = newHost(t)
  await app.register(svcCore, options)
}

t.test('a boot without a database is an error that says how to set one', async (t) => {
  const secrets = () => null
  await t.rejects(boot(t, { secrets }), {
    code: 'SVC_CORE_INVALID_OPTION',
    message:
      'svcCore: there is no database: give the option "database", or set the secret DATABASE_URL',
  })
})

t.test('a DATABASE_URL that is no URL is an error at boot', async (t) => {
  const secrets = (name: string) => (name === 'DATABASE_URL' ? 'localhost/app' : null)
  await t.rejects(boot(t, { secrets }), {
    code: 'SVC_CORE_INVALID_OPTION',
    message: `svcCore: the connection string must be a URL like postgres://user:password@host:5432/name, with the special characters of the password percent-encoded: ${advice}`,
  })
})

for (const encoding of ['WIN1252', 'LATIN1', 'SQL_ASCII']) {
  t.test(`a database with the encoding ${encoding} is an error at boot`, async (t) => {
    const options = `encoding '${encoding}' locale_provider libc locale 'C'`
    const database = await emptyDatabaseWith(t, options)
    await t.rejects(boot(t, { database }), {
      code: 'SVC_CORE_DATABASE_NOT_UTF8',
      message: new RegExp(`needs a database with the encoding UTF8, this one has ${encoding}: `),
    })
  })
}

t.test('a port where no server listens is an error at boot', async (t) => {
  const database = 'postgres://user:hunter2@127.0.0.1:1/app'
  await t.rejects(boot(t, { database }), {
    code: 'SVC_CORE_DATABASE_UNREACHABLE',
    message: `svcCore: Postgres cannot be reached at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1): start it, or ${advice}`,
  })
})

t.test('a server that does not answer is an error at boot', async (t) => {
  const port = await listening(t, createServer())
  const database = { host: '127.0.0.1', port, connectionTimeoutMillis: 50 }
  await t.rejects(boot(t, { database }), {
    code: 'SVC_CORE_DATABASE_UNREACHABLE',
    message: new RegExp(
      `^svcCore: Postgres cannot be reached at 127.0.0.1:${port} \\(.*timeout\\): start it`,
    ),
  })
})

t.test('a database that does not exist is an error at boot', async (t) => {
  const url = new URL(await emptyDatabase(t))
  url.pathname = '/nowhere'
  await t.rejects(boot(t, { database: url.href }), {
    code: 'SVC_CORE_DATABASE_UNREACHABLE',
    message: `svcCore: Postgres at ${url.host} answers, but refuses: database "nowhere" does not exist: ${advice}`,
  })
})

/** As Postgres with SCRAM. */
const SASL = Buffer.concat([Buffer.from('R\0\0\0\x17\0\0\0\x0a'), Buffer.from('SCRAM-SHA-256\0\0')])
const CONTINUE = Buffer.from('R\0\0\0\x21\0\0\0\x0br=nonce,s=c2FsdA==,i=4096')

t.test('without a password that the server asks for, no connection is left behind', async (t) => {
  const server = createServer((socket) => {
    const answers = [SASL, CONTINUE]
    socket.on('data', () => void (answers.length > 0 && socket.write(answers.shift()!)))
    socket.on('error', () => {})
  })
  const port = await listening(t, server)
  const database = `postgres://nobody@127.0.0.1:${port}/name`
  await t.rejects(boot(t, { database }), {
    code: 'SVC_CORE_DATABASE_UNREACHABLE',
    message: /127\.0\.0\.1:\d+ asks for a password, and there is none: .*PGPASSWORD.* 0600: check/,
  })
  const connections = promisify(server.getConnections.bind(server))
  await until(async () => (await connections()) === 0)
})

t.test('a function that gives no password is named by an error at boot', async (t) => {
  const { host, port, user } = new pg.Client(await emptyDatabase(t))
  const given: [() => string, RegExp][] = [
    [
      () => undefined as never,
      /the function "password" failed: it must give a text, got undefined/,
    ],
    [
      () => {
        throw new Error('no token')
      },
      /there is no password for Postgres at \S+: the function "password" failed: no token: check/,
    ],
  ]
  for (const [password, message] of given) {
    await t.rejects(boot(t, { database: { host, port, user: user!, password } }), {
      code: 'SVC_CORE_DATABASE_UNREACHABLE',
      message,
    })
  }
})

t.test('a user that does not exist is an error at boot', async (t) => {
  const url = new URL(await emptyDatabase(t))
  url.username = 'nobody'
  url.password = 'hunter2'
  await t.rejects(boot(t, { database: url.href }), {
    code: 'SVC_CORE_DATABASE_UNREACHABLE',
    message: new RegExp(`^svcCore: Postgres at ${url.host} answers, but refuses: .*"nobody"`),
  })
})

t.test('a Postgres that is too old is an error at boot', async (t) => {
  const old = Object.assign(new EventEmitter(), {
    options: { max: 1 },
    connect() {},
    query: async () => ({ rows: [{ number: 140_012, text: '14.12' }] }),
  })
  await t.rejects(boot(t, { database: old as never }), {
    code: 'SVC_CORE_DATABASE_TOO_OLD',
    message:
      'svcCore needs Postgres 15 or newer, this server is 14.12: upgrade it, or point the option "database" at a newer one',
  })
  t.equal(old.listenerCount('error'), 0, 'the pool is left as it was')
})

t.test('svcCore registered twice is an error at boot', async (t) => {
  const database = { connectionString: await freshDatabase(t), max: 2 }
  const app = newHost(t)
  await app.register(svcCore, { database })
  await t.rejects(async () => app.register(svcCore, { database }), {
    code: 'SVC_CORE_ALREADY_REGISTERED',
    message: /^svcCore is registered already: register it once, and before/,
  })
})

t.test('a decorator "svc" of the host is an error at boot', async (t) => {
  const app = Fastify().decorate('svc', {} as never)
  await t.rejects(useCore(app), {
    code: 'SVC_CORE_ALREADY_REGISTERED',
    message: 'svcCore: the host has a decorator "svc" of its own: rename it',
  })
})
