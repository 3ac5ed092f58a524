/**
 * Several hosts publish, deliver, receive and answer while what can fail fails. What they acknowledge
 * stands in a ledger, and is compared with what came of it.
 */
import pg from 'pg'
import type { Test } from 'tap'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { createTables, handledIn, jobsIn, ordersIn } from './afterwards.ts'
import { Hosts } from './hosts.ts'
import { missing, newLedger, violations, type Ledger } from './ledger.ts'
import { Load } from './load.ts'
import { startReceiver } from './receiver.ts'
import type { Fault } from './schedule.ts'
import { strike, type World } from './strike.ts'

const QUOTA = 25

export interface Aftermath {
  violations: string[]
  ledger: Ledger
  /** Of hosts that ended without having been killed. */
  complaints: string[]
}

export async function storm(
  t: Test,
  hostCount: number,
  schedule: readonly Fault[],
): Promise<Aftermath> {
  const world = await startWorld(t)
  const { hosts, direct, receiver, ledger } = world
  for (let place = 0; place < hostCount; place++) hosts.start(place)

  const load = new Load(hosts, ledger)
  const webhook = await load.posted<{ secret: string }>('/control/webhook', { url: receiver.url })
  receiver.secret = webhook.secret
  const limited = await load.posted<{ key: string }>('/control/key', { quota: QUOTA })
  const revoked = await load.posted<{ id: string; key: string }>('/control/key', {})
  // Every process hears of a revocation within a second, or lets nobody in: nobody has used this key.
  await load.posted('/control/revoke', { keyId: revoked.id })

  const running = load.run({ limited: limited.key, revoked: revoked.key })
  for (const fault of schedule) await strike(world, fault)
  load.end()
  await running

  // Nothing is restarted afterwards: the hosts go on by themselves.
  await until(() => load.publish())
  await until(() => isQuiet(direct, ledger))
  const { waiting, dead } = await jobsIn(direct)
  return {
    violations: violations(ledger, {
      handled: await handledIn(direct),
      orders: await ordersIn(direct),
      waiting,
      deadLetters: dead,
      quota: QUOTA,
    }),
    ledger,
    complaints: hosts.complaints,
  }
}

async function startWorld(t: Test): Promise<World> {
  // A server of its own: other tests must not feel its crashes.
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const direct = new pg.Pool({ connectionString: server.url, max: 2 })
  direct.on('error', () => {})
  t.teardown(() => direct.end())
  await createTables(direct)
  const proxy = await proxyPostgres(t, server.url)
  const ledger = newLedger()
  const receiver = await startReceiver(t, ledger)
  return { hosts: new Hosts(t, proxy.url), proxy, direct, receiver, ledger }
}

/** Whether all that was acknowledged has come, and no job waits; false while Postgres recovers. */
async function isQuiet(direct: pg.Pool, ledger: Ledger): Promise<boolean> {
  try {
    const handled = await handledIn(direct)
    return missing(ledger, { handled }).length === 0 && (await jobsIn(direct)).waiting === 0
  } catch {
    return false
  }
}
