/** Makes a fault happen. */
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { PostgresProxy } from '../support/postgres-proxy.ts'
import { until } from '../support/until.ts'
import type { Hosts } from './hosts.ts'
import type { Ledger } from './ledger.ts'
import type { StormReceiver } from './receiver.ts'
import type { Fault } from './schedule.ts'

export interface World {
  hosts: Hosts
  /** Between the hosts and Postgres. */
  proxy: PostgresProxy
  /** Past the proxy. */
  direct: pg.Pool
  receiver: StormReceiver
  ledger: Ledger
}

type Strikes = {
  [Kind in Fault['kind']]: (world: World, fault: Extract<Fault, { kind: Kind }>) => Promise<unknown>
}

const LONGEST_CALM_MS = 10_000
const DELAY_MS = 200

/** Resolves when the fault is over. */
export const strike = (world: World, fault: Fault): Promise<unknown> =>
  STRIKES[fault.kind](world, fault as never)

const STRIKES: Strikes = {
  async calm({ ledger }, { events }) {
    const enough = ledger.published.size + events
    const latest = performance.now() + LONGEST_CALM_MS
    await until(() => ledger.published.size >= enough || performance.now() > latest)
  },

  async kill({ hosts }, { host }) {
    await hosts.kill(host)
    hosts.start(host)
  },

  async 'wrong clock'({ hosts }, { host, offsetMs }) {
    await hosts.kill(host)
    hosts.start(host, { offsetMs })
  },

  async 'other options'({ hosts }, { host }) {
    await hosts.kill(host)
    hosts.start(host, { isOther: true })
  },

  async freeze({ hosts, ledger }, { host, ms }) {
    const from = performance.now()
    hosts.signal(host, 'SIGSTOP')
    await setTimeout(ms)
    hosts.signal(host, 'SIGCONT')
    ledger.disturbances.push({ kind: 'freeze', from, until: performance.now() })
  },

  async cut({ proxy }, { ms }) {
    proxy.cut()
    await setTimeout(ms)
    proxy.mend()
  },

  async silence({ proxy }, { ms }) {
    proxy.silence()
    await setTimeout(ms)
    proxy.mend()
  },

  async slow({ proxy }, { ms }) {
    proxy.delay(DELAY_MS)
    await setTimeout(ms)
    proxy.mend()
  },

  terminate: ({ direct }, { oneIn }) =>
    direct
      .query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where pid <> pg_backend_pid() and backend_type = 'client backend' and pid % $1 = 0`,
        [oneIn],
      )
      .catch(() => {}),

  async crash({ direct, ledger }) {
    const from = performance.now()
    const { rows } = await direct
      .query<{ pid: number }>('select pg_backend_pid() as pid')
      .catch(() => ({ rows: [] }))
    if (!rows[0]) return
    process.kill(rows[0].pid, 'SIGKILL')
    await until(() => direct.query('select 1').catch(() => null))
    ledger.disturbances.push({ kind: 'crash', from, until: performance.now() })
  },

  async receiver({ receiver }, { answer, ms }) {
    receiver.answer = answer
    await setTimeout(ms)
    receiver.answer = 'ok'
  },
}
