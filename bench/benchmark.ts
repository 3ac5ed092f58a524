import type { Goal } from './report/goal.ts'

/** One question about speed. Its name's part before the first dash names the family it belongs to. */
export interface Benchmark {
  name: string
  /** A sentence: what is measured against what. */
  title: string
  /** How long a whole run may take before it is given up. */
  limitSeconds: number
  run(bench: Bench): Promise<Finding[]>
}

/** What a benchmark is given. */
export interface Bench {
  /** Smoke runs: everything small, the figures worthless. */
  quick: boolean
  /** Endurance for real: ten minutes instead of one. */
  long: boolean
  /** Measured rounds after the warm-up. */
  rounds: number
  /** A value for whole runs, and one for smoke runs. */
  size(whole: number, quick: number): number
  /** Says what is under way. */
  tell: (text: string) => void
  /** A new database, gone when the benchmark ends. */
  database(): Promise<string>
  /** CPU time that Postgres has used up so far, in microseconds; not a number where nobody tells. */
  postgresCpu(): Promise<number>
  /** Something to be ended with the benchmark, last one first, however it ends. */
  owns<Thing extends { stop(): Promise<void> }>(thing: Thing): Thing
}

/** One table of the report: contenders that were measured side by side. */
export interface Finding {
  title: string
  unit: string
  better: 'more' | 'less'
  settings: Record<string, string | number>
  rows: Row[]
  notes?: string[]
}

export interface Row {
  name: string
  /** One for each round, in order. */
  samples: number[]
  /** The row whose samples of the same rounds this one is set against. */
  against?: string
  goal?: Goal
}
