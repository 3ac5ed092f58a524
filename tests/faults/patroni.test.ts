/**
 * A cluster of Postgres under Patroni, whose primary is killed, hands over, and hangs: with a list of hosts, behind
 * HAProxy, and behind PgBouncer before that.
 */
import { setTimeout } from 'node:timers/promises'
import { receiver as openReceiver } from '@svc/testing'
import pg from 'pg'
import t from 'tap'
import { startPatroni, withoutPatroni, type Node } from '../support/patroni.ts'
import { startPgBouncer, withoutPgBouncer } from '../support/pgbouncer.ts'
import { until } from '../support/until.ts'
import { startHost, type Host } from '../webhooks/support/host.ts'

/** PgBouncer waits for 15 s by default after a server that it cannot reach. */
const AT_ONCE = { server_login_retry: '1' }
/** From the first commit that the new primary takes. */
const GOES_ON_WITHIN_MS = 10_000

/** Publishes one event after the other. */
function publishing({ app }: Host, prefix: string) {
  const acknowledged: string[] = []
  let acknowledgedAt = 0
  let isOn = true
  const ended = (async () => {
    for (let n = 0; isOn; n++) {
      const id = `${prefix.replaceAll(' ', '-')}-${n}`
      await app.svc.events.publish('order.created', { id }, { id }).then(
        () => {
          acknowledged.push(id)
          acknowledgedAt = performance.now()
        },
        () => {},
      )
      await setTimeout(20)
    }
  })()
  return {
    prefix,
    acknowledged,
    at: () => acknowledgedAt,
    stop: () => {
      isOn = false
      return ended
    },
  }
}

/** When another node than this one takes its first commit. */
async function firstCommit(nodes: readonly Node[], former: Node): Promise<number> {
  const tries = nodes.filter((node) => node !== former)
  return until(
    async () => {
      for (const { url } of tries) {
        const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 })
        client.on('error', () => {})
        try {
          await client.connect()
          await client.query('create table if not exists public.probe (n int)')
          return performance.now()
        } catch {
          // It only reads yet.
        } finally {
          client.end().catch(() => {})
        }
      }
      return 0
    },
    (at) => at > 0,
  )
}

t.test(
  'publishing and delivering go on after the primary has moved',
  { skip: withoutPatroni },
  async (t) => {
    const cluster = await startPatroni(t)
    const ways: [name: string, database: string][] = [
      ['a list of hosts', cluster.list],
      ['HAProxy', cluster.proxied],
    ]
    if (!withoutPgBouncer)
      ways.push(['PgBouncer', await startPgBouncer(t, cluster.proxied, AT_ONCE)])
    const receiver = await openReceiver()
    t.teardown(() => receiver.close())
    const hosts: Host[] = []
    for (const [, database] of ways) hosts.push(await startHost(t, { database }))
    await hosts[0]!.register(receiver.url, ['order.created'])
    const publishers = hosts.map((host, n) => publishing(host, ways[n]![0]))
    for (const { stop } of publishers) t.teardown(stop)
    const delivered = () => new Set(receiver.received.map(({ body }) => body.payload.id as string))

    async function moves(what: string, strike: (primary: Node) => Promise<unknown>): Promise<void> {
      await cluster.complete()
      const former = await cluster.primary()
      await until(() => publishers.every(({ at }) => performance.now() - at() < 1000))
      const struck = performance.now()
      await strike(former)
      const at = await firstCommit(cluster.nodes, former)
      t.comment(`${what}: another node takes commits after ${Math.round(at - struck)} ms`)
      const goOn = publishers.map(async ({ prefix, at: acknowledgedAt, acknowledged }) => {
        await until(() => acknowledgedAt() > at)
        const after = acknowledgedAt() - at
        t.ok(
          after < GOES_ON_WITHIN_MS,
          `${what}: publishing by ${prefix} after ${Math.round(after)} ms`,
        )
        const id = acknowledged.at(-1)!
        await until(() => delivered().has(id))
        const deliveredAfter = performance.now() - at
        t.ok(
          deliveredAfter < GOES_ON_WITHIN_MS + 5000,
          `${what}: delivering by ${prefix} after ${Math.round(deliveredAfter)} ms`,
        )
      })
      await Promise.all(goOn)
    }

    await moves('kill -9', (primary) => primary.kill())
    await moves('switchover', () => cluster.switchover())
    let thaw = () => {}
    await moves('a machine that hangs', async (primary) => {
      thaw = await primary.freeze()
      t.teardown(thaw)
    })
    thaw()
    await setTimeout(3000)
    for (const { stop } of publishers) await stop()
    const all = publishers.flatMap(({ acknowledged }) => acknowledged)
    await until(() => {
      const known = delivered()
      return all.every((id) => known.has(id))
    })
    const now = new pg.Client((await cluster.primary()).url)
    await now.connect()
    t.teardown(() => now.end())
    const { rows } = await now.query(
      `select split_part(id, ' ', -1) as id from svc."__svc.events" where name = 'order.created'`,
    )
    const stored = new Set(rows.map(({ id }: { id: string }) => id))
    t.same(
      all.filter((id) => !stored.has(id)),
      [],
      'what was acknowledged is there',
    )
    t.same(
      [...delivered()].filter((id) => !stored.has(id)),
      [],
      'nothing was delivered that is not there',
    )
  },
)
