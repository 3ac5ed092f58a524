// promise: On a cluster of Citus, rows of the host and events agree while workers and the coordinator are killed, a worker is added and shards move
/** On a cluster of Citus, which `pnpm test --citus URL` names: docs/operate/engines.md says what holds there. */
import { svcAuth } from '@svc/auth'
import { svcCore, type Svc } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase, emptyDatabaseWith, freshDatabase } from '../../support/fresh-database.ts'
import { svc as command } from '../../support/svc-command.ts'
import { currentRun } from '../../support/test-run.ts'
import { withDatabase } from '../../support/databases.ts'
import { sessionOn } from '../../support/session.ts'

const { workers } = await currentRun()
const skip = workers.length === 0 && 'no cluster of Citus is named: pnpm test --citus URL'

/** Resolves to what the boot logged. */
async function boot(t: Test, database: string, core: { migrate?: 'check'; schema?: string } = {}) {
  const log: { msg: string; version?: string }[] = []
  const app = Fastify({
    logger: { level: 'info', stream: { write: (line) => log.push(JSON.parse(line)) } },
    pluginTimeout: 0,
  })
  t.teardown(() => app.close())
  await app.register(svcCore, { database, worker: { enabled: false }, ...core })
  await app.register(svcAuth)
  await app.register(svcWebhooks, { allowedEvents: ['order.created'] })
  await app.ready()
  return { app, log }
}

const refusedWith = (message: string) => ({ code: 'SVC_CORE_CITUS_UNUSABLE', message })

t.test('with Citus', { skip }, async (t) => {
  const writes: Record<string, (svc: Svc, db: pg.Client) => Promise<unknown>> = {
    'an event': (svc, db) => svc.events.publish('order.created', { id: 1 }, { db }),
    'a user': (svc, db) => svc.auth.createUser({ email: 'a@example.com', name: 'A' }, { db }),
    'a webhook': (svc, db) =>
      svc.webhooks.register({ url: 'https://example.com/hook', events: ['order.created'] }, { db }),
    'a job of the host': (svc, db) =>
      svc.jobs.send(
        'parcels',
        {},
        { db: { executeSql: (text, values) => db.query(text, values) } },
      ),
  }
  t.test(
    'what is written in a transaction of the host has it committed in two phases',
    async (t) => {
      const database = await freshDatabase(t)
      const { app } = await boot(t, database)
      await app.svc.jobs.createQueue('parcels')
      const client = await sessionOn(t, database)
      await client.query('create table orders (id int)')
      await client.query(`select create_distributed_table('orders', 'id')`)
      const commands: string[] = []
      client.on('notice', ({ message = '' }) => commands.push(message))
      const prepares = () => commands.filter((text) => text.startsWith('issuing PREPARE')).length
      const inTransaction = async (work: () => Promise<unknown>) => {
        commands.length = 0
        await client.query('begin; set local citus.log_remote_commands = on')
        await work()
        await client.query('commit')
      }
      const order = () => client.query('insert into orders values (1)')

      await inTransaction(order)
      t.equal(prepares(), 0, 'Citus alone commits on one worker in one phase')
      for (const [name, write] of Object.entries(writes)) {
        await inTransaction(async () => {
          await order()
          await write(app.svc, client)
        })
        t.equal(prepares(), 1, `${name} after the order`)
      }
      await inTransaction(async () => {
        await writes['an event']!(app.svc, client)
        await order()
      })
      t.equal(prepares(), 1, 'an event before the order')
      await inTransaction(async () => {
        await client.query('savepoint before')
        await writes['an event']!(app.svc, client)
        await client.query('rollback to before')
        await writes['an event']!(app.svc, client)
        await order()
      })
      t.equal(prepares(), 1, 'an event after one that was rolled back')
      await inTransaction(async () => {
        await writes['an event']!(app.svc, client)
        await writes['an event']!(app.svc, client)
      })
      t.equal(commands.filter((text) => text.includes('DELETE')).length, 1, 'once in a transaction')
    },
  )

  t.test('each of our tables lets Citus know, those that come later too', async (t) => {
    const database = await freshDatabase(t)
    const { app } = await boot(t, database)
    await app.svc.jobs.createQueue('parcels', { partition: true })
    const client = await sessionOn(t, database)
    const unknown = async () =>
      (
        await client.query(
          `select relname as name from pg_class
            where relnamespace in ('svc'::regnamespace, 'svc_jobs'::regnamespace) and relkind in ('r', 'p')
              and relname <> '__svc.known_to_citus'
              -- Triggers for statements are not inherited, and statements name the parent.
              and not (relispartition and relnamespace = 'svc'::regnamespace)
              and not exists (select from pg_trigger where tgrelid = pg_class.oid and tgname = 'let_citus_know' and tgenabled = 'A')`,
        )
      ).rows.map(({ name }) => name)
    t.strictSame(await unknown(), [])
    await client.query('drop trigger let_citus_know on svc."__svc.audit"')
    await t.rejects(boot(t, database, { migrate: 'check' }), {
      code: 'SVC_CORE_SCHEMA_MISSING',
      message: /triggers for Citus on svc\."__svc\.audit"/,
    })
    await boot(t, database)
    t.strictSame(await unknown(), [], 'the boot makes what is missing')
  })

  t.test('a host with another schema has the same', async (t) => {
    const database = await emptyDatabase(t)
    const { app } = await boot(t, database, { schema: 'acme' })
    t.ok((await app.svc.health()).ok)
    const client = await sessionOn(t, database)
    const { rows } = await client.query('select logicalrelid::text as name from pg_dist_partition')
    t.strictSame(rows, [{ name: 'acme."__svc.known_to_citus"' }])
  })

  t.test('the health and the log of a host and the doctor name Citus', async (t) => {
    const database = await freshDatabase(t)
    const { app, log } = await boot(t, database)
    const { database: its } = await app.svc.health()
    t.match(its.engine, /^Citus \d+\.\d+/)
    t.match(
      log.find(({ msg }) => msg === 'the database is the coordinator of a Citus cluster')?.version,
      /^\d+\.\d+/,
    )
    const { text } = await command(t, ['doctor'], { DATABASE_URL: database })
    t.match(text, /Postgres 1\d\.\d+.*, Citus \d+\.\d+/)
  })

  t.test('a boot through a worker is refused', async (t) => {
    const database = await freshDatabase(t)
    const name = new URL(database).pathname.slice(1)
    await t.rejects(
      boot(t, withDatabase(workers[0]!, name)),
      refusedWith(
        'svcCore keeps its tables on the coordinator of a Citus cluster, and this connection leads to a worker: point the option "database" at the coordinator',
      ),
    )
  })

  t.test(
    'a coordinator that its own metadata does not have is refused, with the call',
    async (t) => {
      const database = await emptyDatabaseWith(t, '')
      const client = await sessionOn(t, database)
      await client.query('create extension citus')
      await t.rejects(
        boot(t, database),
        refusedWith(
          `svcCore needs a coordinator that is in the metadata of Citus, and this one is not: run "select citus_set_coordinator_host('<its host name>', <its port>)" there, and boot again`,
        ),
      )
      const { hostname: host, port } = new URL(database)
      await client.query(`select citus_set_coordinator_host('${host}', ${port})`)
      t.ok(await boot(t, database), 'a coordinator without workers is one')
    },
  )

  for (const [kind, call] of Object.entries({
    distributed: `create_distributed_table('svc."__svc.pauses"', 'queue')`,
    reference: `create_reference_table('svc."__svc.pauses"')`,
  })) {
    t.test(`a table of ours that was made a ${kind} table is refused by its name`, async (t) => {
      const database = await freshDatabase(t)
      const client = await sessionOn(t, database)
      await t.rejects(client.query(`select ${call}`), /trigger/, 'Citus refuses it as it is')
      const { app } = await boot(t, database)
      await client.query('drop trigger let_citus_know on svc."__svc.pauses"')
      await client.query(`select ${call}`)
      const what = `keeps its tables on the coordinator, and svc."__svc.pauses" is a ${kind} table of Citus`
      const health = await app.svc.health()
      t.match(health, { ok: false, database: { ok: false, reason: `svcCore ${what}` } })
      await t.rejects(
        boot(t, database),
        refusedWith(
          `svcCore ${what}: run "select undistribute_table('svc."__svc.pauses"')", and boot again`,
        ),
      )
      const { text, exitCode } = await command(t, ['doctor', '--json'], { DATABASE_URL: database })
      t.equal(exitCode, 1)
      t.match(JSON.parse(text).findings, [
        {
          code: 'SVC_CORE_CITUS_UNUSABLE',
          what: `The packages ${what}.`,
          remedy: /^Run "select undistribute_table/,
        },
      ])
      await client.query(`select undistribute_table('svc."__svc.pauses"')`)
      t.ok(await boot(t, database), 'what the message says mends it')
    })
  }

  t.test('a schema of ours that is distributed, or would be, is refused', async (t) => {
    const database = await emptyDatabase(t)
    const client = await sessionOn(t, database)
    const name = new URL(database).pathname.slice(1)
    await client.query(`alter database ${name} set citus.enable_schema_based_sharding = on`)
    await t.rejects(boot(t, database), {
      code: 'SVC_CORE_CITUS_UNUSABLE',
      message:
        /Citus would distribute the schema svc, since citus\.enable_schema_based_sharding is on/,
    })
    const { rows } = await client.query(`select to_regnamespace('svc') is null as "isNew"`)
    t.ok(rows[0].isNew, 'and nothing is made')
    await client.query('set citus.enable_schema_based_sharding = on')
    await client.query('create schema svc')
    await t.rejects(boot(t, database), {
      code: 'SVC_CORE_CITUS_UNUSABLE',
      message:
        /Citus has distributed the schema svc: run "select citus_schema_undistribute\('svc'\)"/,
    })
    await client.query(`select citus_schema_undistribute('svc')`)
    await client.query(`alter database ${name} reset citus.enable_schema_based_sharding`)
    t.ok(await boot(t, database), 'what the messages say mends it')
  })
})

t.test('without Citus there is nothing of it', { skip: !skip && 'Citus is there' }, async (t) => {
  const database = await freshDatabase(t)
  const { app } = await boot(t, database)
  t.equal((await app.svc.health()).database.engine, undefined)
  const client = await sessionOn(t, database)
  const { rows } = await client.query(
    `select tgname from pg_trigger where tgname = 'let_citus_know'
     union all select relname from pg_class where relname = '__svc.known_to_citus'`,
  )
  t.strictSame(rows, [])
})
