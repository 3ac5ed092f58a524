import { svcCore } from '@svc/core'
import { useCore } from '@svc/core/internal'
import Fastify from 'fastify'
import pg from 'pg'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { startHost } from './support/host.ts'
import { until } from '../support/until.ts'
import { createSecrets } from '../../packages/core/src/secrets.ts'
import { sessionOn } from '../support/session.ts'
import { newHost } from '../support/new-host.ts'

t.test('a plugin registers core with its defaults where the host has not', async (t) => {
  process.env['DATABASE_URL'] = await freshDatabase(t)
  t.teardown(() => delete process.env['DATABASE_URL'])
  const app = newHost(t)

  const core = await useCore(app)

  t.equal(await useCore(app), core, 'once')
  t.equal(app.svc, core.svc)
  t.match(core.settings, {
    worker: {
      enabled: true,
      maxAttempts: 17,
      retryDelaySeconds: 5,
      retryBackoff: true,
      retryDelayMaxSeconds: 43_200,
      concurrency: 256,
    },
    eventRetentionDays: 30,
  })
})

t.test('the database is a pool, and jobs a pg-boss that was started', async (t) => {
  const { app } = await startHost(t)
  t.ok(app.svc.database instanceof pg.Pool)
  await app.svc.jobs.createQueue('own')
  const id = await app.svc.jobs.send('own', { a: 1 })
  const [job] = await app.svc.jobs.fetch('own')
  t.match(job, { id, data: { a: 1 } })
})

t.test('a secret is looked up by its name, and an empty one is none', async (t) => {
  const secrets = async (name: string) => ({ A: 'a', EMPTY: '', NUMBER: 5 as never })[name]
  const { app } = await startHost(t, { core: { secrets } })
  t.equal(await app.svc.secrets.get('A'), 'a')
  t.equal(await app.svc.secrets.get('EMPTY'), null)
  t.equal(await app.svc.secrets.get('B'), null)
  await t.rejects(app.svc.secrets.get('NUMBER'), {
    code: 'SVC_CORE_INVALID_SECRET',
    message: 'the secret "NUMBER" must be a string or null, the option "secrets" gave a number',
  })
})

t.test('when another plugin fails at boot, closing the host closes everything', async (t) => {
  const database = await freshDatabase(t)
  const app = Fastify()
  await app.register(svcCore, { database: { connectionString: database, max: 2 } })
  await app.svc.events.subscribe('a', () => {})
  app.register(async () => {
    throw new Error('another plugin')
  })
  await t.rejects(async () => app.ready(), { message: 'another plugin' })

  await app.close()

  const client = await sessionOn(t, database)
  const others = () =>
    client.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
  await until(others, ({ rowCount }) => rowCount === 0)
})

t.test('where pg-boss cannot start, nothing is left running', async (t) => {
  const pool = new pg.Pool({ connectionString: await freshDatabase(t), max: 2 })
  t.teardown(() => pool.end())
  // pg-pool's end resolves before its sockets are closed, and the database is dropped then.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown
    client.query = ((statement: unknown, ...rest: unknown[]) =>
      JSON.stringify(statement).includes('svc_jobs')
        ? Promise.reject(new Error('permission denied for schema svc_jobs'))
        : query(statement, ...rest)) as never
  })
  const app = newHost(t)
  await t.rejects(async () => app.register(svcCore, { database: pool }), {
    message: 'permission denied for schema svc_jobs',
  })
  await app.close()
  t.equal(pool.listenerCount('error'), 1, 'no listener of core is left on it')
})

t.test('a secret that is never found is an error, and holds nobody up', async (t) => {
  const secrets = createSecrets(() => new Promise<string>(() => {}), { warn() {} }, 20)
  await t.rejects(secrets.get('KEY'), {
    message: 'the option "secrets" gave no KEY within 0.02 seconds',
  })
  t.equal(await createSecrets(async () => 'a', { warn() {} }).get('KEY'), 'a')
})

t.test(
  'white space around a secret is left out, with a warning that names the secret',
  async (t) => {
    const given: Record<string, string> = {
      NEWLINE: 'a secret of both\n',
      WINDOWS: '\ufeffa secret of both\r\n',
      BLANKS: '  a secret of both\t',
      RIGHT: 'a secret of both',
      PEM: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
      EMPTY: ' \n',
    }
    const warnings: unknown[] = []
    const warn = (details: object, message: string) => void warnings.push({ ...details, message })
    const sources = [(name: string) => given[name], async (name: string) => given[name]]
    for (const source of sources) {
      warnings.length = 0
      const secrets = createSecrets(source, { warn })
      for (const name of ['NEWLINE', 'WINDOWS', 'BLANKS', 'RIGHT', 'RIGHT', 'BLANKS']) {
        t.equal(await secrets.get(name), 'a secret of both', name)
      }
      t.equal(await secrets.get('PEM'), given['PEM']!.trim())
      t.equal(await secrets.get('EMPTY'), null)
      t.match(warnings, [
        { secret: 'NEWLINE', message: /begins or ends with white space/ },
        { secret: 'WINDOWS' },
        { secret: 'BLANKS' },
        { secret: 'EMPTY', message: /nothing but white space: it counts as not set/ },
      ])
      t.equal(warnings.length, 4, 'once for each')
      t.notMatch(JSON.stringify(warnings), /of both/)
    }
  },
)
