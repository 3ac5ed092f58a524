/**
 * Several hosts publish, deliver, receive and answer while what can fail fails. What they acknowledge
 * stands in a ledger, and is compared with what came of it.
 */
import pg from 'pg'
import type { Test } from 'tap'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { until } from '../support/until.ts'
import { afterwardsIn, createTables, handledIn, jobsIn } from './afterwards.ts'
import { Hosts } from './hosts.ts'
import { LIMITS, newLedger, type Ledger } from './ledger.ts'
import { Load } from './load.ts'
import { startReceiver } from './receiver.ts'
import type { Fault } from './schedule.ts'
import { watchStalls } from './stalls.ts'
import { strike, type World } from './strike.ts'
import { missing, violations } from './violations.ts'

/** Between two looks whether all is quiet. */
const LOOK_MS = 200

export interface Aftermath {
  violations: string[]
  ledger: Ledger
  /** Complaints about hosts that ended without having been killed. */
  complaints: string[]
}

/** @param database with the tables of the plugins, and no other */
export async function storm(
  t: Test,
  database: string,
  hostCount: number,
  schedule: readonly Fault[],
): Promise<Aftermath> {
  const world = await startWorld(t, database)
  const { hosts, direct, receiver, ledger } = world
  for (let place = 0; place < hostCount; place++) hosts.start(place)

  const load = new Load(hosts, ledger)
  const register = async (name: Parameters<typeof receiver.urlOf>[0], settings: object) => {
    const webhook = { url: receiver.urlOf(name), ...settings }
    const { secret } = await load.posted<{ secret: string }>('/control/webhook', webhook)
    receiver.secrets.set(name, secret)
  }
  await register('plain', { events: ['order.created'] })
  await register('ordered', { events: ['order.step'], ordered: true })
  await register('rated', { events: ['order.step'], rateLimit: LIMITS.rated })
  await register('capped', { events: ['order.step'], maxInFlight: LIMITS.capped })
  const quota = { limit: LIMITS.quota, period: 'total' }
  const counted = await load.posted<{ key: string }>('/control/key', { quota })
  const limited = await load.posted<{ key: string }>('/control/key', { limits: [LIMITS.key] })

  const running = load.run({ counted: counted.key, limited: limited.key })
  for (const fault of schedule) await strike(world, fault)
  load.end()
  await running

  // Nothing is restarted afterwards: the hosts go on by themselves.
  await until(() => load.publish())
  await until(() => isQuiet(direct, ledger), Boolean, LOOK_MS)
  return {
    violations: violations(ledger, await afterwardsIn(direct)),
    ledger,
    complaints: hosts.complaints,
  }
}

async function startWorld(t: Test, database: string): Promise<World> {
  const direct = new pg.Pool({ connectionString: database, max: 2 })
  direct.on('error', () => {})
  t.teardown(() => direct.end())
  await createTables(direct)
  const proxy = await proxyPostgres(t, database)
  const ledger = newLedger()
  const receiver = await startReceiver(t, ledger)
  watchStalls(t, ledger)
  return { hosts: new Hosts(t, proxy.url), proxy, direct, receiver, ledger }
}

/** Whether all that was acknowledged has come, and no job waits; false while Postgres recovers. */
async function isQuiet(direct: pg.Pool, ledger: Ledger): Promise<boolean> {
  try {
    if ((await jobsIn(direct)).waiting > 0) return false
    return missing(ledger, { handled: await handledIn(direct) }).length === 0
  } catch {
    return false
  }
}
