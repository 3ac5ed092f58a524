// In a process of its own: it answers for the name service of all code.
/** A database whose name leads to another server from one moment on, as RDS and Cloud SQL do it. */
import dns from 'node:dns'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { until } from '../support/until.ts'
import { startHost } from '../webhooks/support/host.ts'
import { startGate } from './cluster/gate.ts'
import { startPair } from './pair.ts'

const NAME = 'database.svc.test'
const [OLD, NEW] = ['127.0.0.1', '127.0.0.2'] as const
const GOES_ON_WITHIN_MS = 10_000

/** The name and its address from now on. */
function nameService(t: Test) {
  let address: string = OLD
  let questions = 0
  const { lookup } = dns
  t.teardown(() => void (dns.lookup = lookup))
  const answering = (
    host: string,
    options: dns.LookupAllOptions,
    done: (...all: unknown[]) => void,
  ) => {
    if (host !== NAME) return lookup(host, options, done)
    questions++
    if (options.all) return done(null, [{ address, family: 4 }])
    return done(null, address, 4)
  }
  dns.lookup = answering as unknown as typeof dns.lookup
  return { lead: (to: string) => void (address = to), questions: () => questions }
}

async function startNamed(t: Test) {
  const pair = await startPair(t, true)
  const { first: old, standby } = pair
  const portOf = (url: string) => new URL(url).port
  const first = await startGate(t, portOf(pair.url), { host: OLD })
  const second = await startGate(t, portOf(pair.standbyUrl), {
    host: NEW,
    port: Number(first.port),
  })
  const url = new URL(pair.url)
  url.host = `${NAME}:${first.port}`
  url.searchParams.set('application_name', 'the-host')
  const promote = async () => {
    // A commit of the old one would wait for it.
    await old.query(`alter system set synchronous_standby_names = ''`)
    await old.query(`alter system set default_transaction_read_only = on`)
    await old.query('select pg_reload_conf()')
    await standby.query('select pg_promote()')
  }
  return { url: url.href, first, second, old, standby, promote }
}

const connectionsOf = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query(
    `select count(*)::int as count from pg_stat_activity where application_name = 'the-host'`,
  )
  return rows[0].count
}

const ways = ['only reads', 'does not answer'] as const
for (const way of ways) {
  t.test(`a name that leads to another server, while the old one ${way}`, async (t) => {
    const service = nameService(t)
    const pair = await startNamed(t)
    const { app } = await startHost(t, { database: pair.url })
    const handled = new Set<string>()
    const handle = async (_: unknown, { id }: { id: string }) => void handled.add(id)
    await app.svc.events.subscribe('order.created', handle, { subscription: 'orders' })
    const publish = (id: string) =>
      until(() =>
        app.svc.events.publish('order.created', {}, { id }).then(
          () => true,
          () => false,
        ),
      )
    await publish('before')
    await until(() => handled.has('before'))
    const asked = service.questions()

    await pair.promote()
    if (way === 'does not answer') pair.first.shut()
    service.lead(NEW)
    const at = performance.now()
    await publish('after')
    await until(() => handled.has('after'))
    t.ok(performance.now() - at < GOES_ON_WITHIN_MS, 'publishing and handling go on')
    t.ok(service.questions() > asked, 'the name is asked for again')
    t.match(await until(app.svc.health, ({ ok }) => ok), { ok: true })
    pair.first.open()
    await until(
      () => connectionsOf(pair.old),
      (count) => count === 0,
    )
    await until(() => connectionsOf(pair.standby))
    t.pass('all connections lead to the new server')
  })
}
