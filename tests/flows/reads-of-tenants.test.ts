/**
 * What one tenant reads makes nobody else wait. A lock on a table holds up reads for as long as the test
 * wants; everything else is to be answered meanwhile.
 */
import t, { type Test } from 'tap'
import { startHost } from '../console/support/host.ts'
import { until } from '../support/until.ts'
import { sessionOn } from '../support/session.ts'

const since = new Date(Date.now() - 3600_000).toISOString()

/** Holds up every statement that reads the table, until it is released. */
async function lock(t: Test, database: string, table: string) {
  const client = await sessionOn(t, database)
  await client.query(`begin; lock table ${table} in access exclusive mode`)
  const watcher = await sessionOn(t, database)
  return {
    release: () => client.query('rollback'),
    // Retention changes these tables now and then, and its statements wait for the lock like the reads.
    waiting: async (): Promise<string[]> => {
      const { rows } = await watcher.query(
        `select pid || ' since ' || query_start || ': ' || left(query, 200) as statement from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query !~* 'delete from|update svc'`,
      )
      return rows.map(({ statement }) => statement)
    },
  }
}

async function tenantsHost(t: Test) {
  const host = await startHost(t, {
    before: (app) => app.get('/guarded', { config: { scopes: ['read'] } }, async () => 'ok'),
  })
  const { events, webhooks, console: portal } = host.app.svc
  const url = 'https://receiver.example/'
  const webhook = await webhooks.register({ url, events: ['order.created'], tenant: 'acme' })
  const acme = await host.keyOf(['webhooks:manage', 'audit:read'], 'acme')
  const others = await host.keyOf(['webhooks:manage', 'audit:read', 'read'], 'globex')
  const operator = await host.keyOf(['admin'], null)
  const visitor = await host.follow(await portal.portalLink({ tenant: 'acme' }))
  return { host, events, webhook, acme, others, operator, visitor }
}

t.test('forty dry runs of a tenant hold up no publish, guard or read of others', async (t) => {
  const { host, events, webhook, acme, others, operator, visitor } = await tenantsHost(t)
  const held = await lock(t, host.database, 'svc."__svc.webhooks.missed_events"')
  const dryRun = { what: 'missing', since, dryRun: true }
  const calls = Array.from({ length: 40 }, (_, n) =>
    n % 2 === 0
      ? host.ask('POST', `/_webhooks/${webhook.id}/recover`, {
          headers: { 'x-api-key': acme.key },
          body: dryRun,
        })
      : visitor.call('webhooks.recover', { id: webhook.id, ...dryRun }),
  )
  await until(held.waiting, (waiting) => waiting.length > 0)
  const get = (path: string, key: string) =>
    host.ask('GET', path, { headers: { 'x-api-key': key } })

  for (let n = 0; n < 20; n++) await events.publish('order.created', { n }, { tenant: 'globex' })
  t.equal((await get('/guarded', others.key)).status, 200)
  t.equal((await get('/_webhooks', others.key)).status, 200, 'a read of another tenant')
  t.equal((await get('/_webhooks', operator.key)).status, 200, 'a read of the operator')
  t.equal((await host.app.svc.events.search({ name: 'order.created' })).items.length, 20)
  const waiting = await held.waiting()
  t.ok(waiting.length <= 1, `one dry run at most waits in Postgres: ${waiting.join('\n')}`)

  await held.release()
  const answers = await Promise.all(calls)
  t.ok(
    // On a busy machine the server may have ended some.
    answers.every(({ status }) => [200, 429, 503].includes(status)),
    [...new Set(answers.map(({ status }) => status))].join(),
  )
})

t.test('a third read of a tenant waits, and is refused where its turn does not come', async (t) => {
  const { host, acme, others } = await tenantsHost(t)
  const held = await lock(t, host.database, 'svc."__svc.audit"')
  const list = ({ key }: { key: string }) =>
    host.ask('GET', '/_auth/audit', { headers: { 'x-api-key': key } })
  // The server ends the statement of the first one when these have waited for as long as they may.
  const answers = await Promise.all(Array.from({ length: 12 }, () => list(acme)))
  const refused = answers.filter(({ status }) => status === 429)
  t.ok(refused.length >= 8, `${refused.length} of 12`)
  t.match(refused[0], { body: { code: 'SVC_BUSY' }, headers: { 'retry-after': '1' } })
  await held.release()
  t.equal((await list(acme)).status, 200, 'there is room again')
  t.equal((await list(others)).status, 200)
})

t.test('a read that takes longer than five seconds is ended by the server', async (t) => {
  const { host, operator } = await tenantsHost(t)
  const held = await lock(t, host.database, 'svc."__svc.audit"')
  const headers = { 'x-api-key': operator.key }
  const late = await host.ask('GET', '/_auth/audit', { headers })
  t.match(late, { status: 503, body: { code: 'SVC_UNAVAILABLE', message: /busy/ } })
  // Nothing goes on in Postgres.
  await until(held.waiting, (waiting) => waiting.length === 0)
})

t.test('changes of a tenant that wait for a row take two connections at most', async (t) => {
  const { host, events, webhook, acme, others } = await tenantsHost(t)
  const client = await sessionOn(t, host.database)
  await client.query('begin')
  await client.query(`select from svc."__svc.webhooks.registrations" where id = $1 for update`, [
    webhook.id,
  ])
  const changes = Array.from({ length: 20 }, () =>
    host.ask('PATCH', `/_webhooks/${webhook.id}`, {
      headers: { 'x-api-key': acme.key },
      body: { label: 'x' },
    }),
  )
  const waiting = async () => {
    const { rows } = await host.app.svc.database.query(
      `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows[0].n
  }
  await until(waiting, (n) => n === 2)
  await events.publish('order.shipped', {}, { tenant: 'globex' })
  const read = await host.ask('GET', '/guarded', { headers: { 'x-api-key': others.key } })
  t.equal(read.status, 200)
  t.equal(await waiting(), 2)
  await client.query('rollback')
  await Promise.all(changes)
})
