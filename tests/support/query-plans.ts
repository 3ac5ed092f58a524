/** The plans that Postgres made for the statements of a test, with the rows that they read. */
import pg from 'pg'
import type { Test } from 'tap'

export interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Rows Removed by Join Filter'?: number
  'Relation Name'?: string
  Plans?: Plan[]
}

/** A node and all below it. */
export const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** A pool whose connections report the plan of each statement, also of those inside of functions. */
export function explainingPool(t: Test, connectionString: string) {
  const options = [
    'session_preload_libraries=auto_explain',
    'auto_explain.log_min_duration=0',
    'auto_explain.log_analyze=on',
    'auto_explain.log_timing=off',
    'auto_explain.log_nested_statements=on',
    'auto_explain.log_format=json',
    'auto_explain.log_level=notice',
  ]
  const plans: Plan[] = []
  /** Pools that a host makes after this one have connections of this class as well. */
  class ExplainingClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config)
      this.on('notice', ({ message }) => {
        const [, json] = /plan:\s*(\{.*\})\s*$/s.exec(message ?? '') ?? []
        // Citus writes text into the plans of what it knows of.
        if (!json || json.includes('known_to_citus')) return
        plans.push((JSON.parse(json) as { Plan: Plan }).Plan)
      })
    }
  }
  const pool = new pg.Pool({
    connectionString,
    max: 5,
    options: options.map((option) => `-c ${option}`).join(' '),
    Client: ExplainingClient,
  })
  // The server ends the idle connections where the database is dropped before their sockets are closed.
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  return { pool, plans }
}
