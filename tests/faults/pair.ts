import type pg from 'pg'
import type { Test } from 'tap'
import { sessionOn } from '../support/session.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

export interface Pair {
  url: string
  standbyUrl: string
  /** A session on each. */
  first: pg.Client
  standby: pg.Client
  /** Resolves when the standby has what the first server has by now. */
  hasAll: () => Promise<void>
  /** Kills the first server. */
  kill: () => void
}

/** A server with a standby: which has each commit before it is acknowledged, or some time later (`late`). */
export async function startPair(t: Test, follows: true | 'late' = 'late'): Promise<Pair> {
  const pair = await startPostgres({}, { standby: follows })
  t.teardown(() => pair.stop())
  const standbyUrl = pair.standby!
  const [first, standby] = [await sessionOn(t, pair.url), await sessionOn(t, standbyUrl)]
  const hasAll = async () => {
    const { rows } = await first.query('select pg_current_wal_lsn()::text as lsn')
    await until(
      () => standby.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as "has"', [rows[0].lsn]),
      (answer) => answer.rows[0].has,
    )
  }
  return { url: pair.url, standbyUrl, first, standby, hasAll, kill: pair.kill }
}
