import type { Goal } from './report.ts'
import type { Methods, Process } from './process.ts'

export interface Benchmark {
  /** The part before the first dash is the group. */
  name: string
  /** One sentence: what is measured, and against what. */
  title: string
  /** Time limit of a whole run. */
  limitSeconds: number
  run(bench: Bench): Promise<Finding[]>
}

/** The context of a benchmark. Everything that it opens is closed when it ends. */
export interface Bench {
  /** A smoke run: everything is small. */
  quick: boolean
  /** More time, or more rows: see bench/RESULTS.md. */
  long: boolean
  /** Measured rounds, the warm-up not counted. */
  rounds: number
  /** This checkout, and that of `--beside`. */
  checkouts: Checkout[]
  /** Chooses between the value of a whole run and that of a smoke run. */
  size(whole: number, quick: number): number
  /** Prints progress. */
  tell(text: string): void
  /** Creates a database and returns its connection string. */
  database(): Promise<string>
  /** CPU time that Postgres has used so far, in µs; NaN where it cannot be read. */
  postgresCpu: () => Promise<number>
  /** Starts a module of this folder in a process of its own. */
  start<Served extends Methods>(module: string, how?: StartOptions): Promise<Process<Served>>
}

export interface Checkout {
  /** How its rows are marked: nothing for this one. */
  mark: string
  /** Its `bench` folder. */
  folder: URL
}

export interface StartOptions {
  /** Flags of Node. */
  flags?: string[]
  /** This one unless given. */
  checkout?: Checkout | undefined
}

/** One table: contenders that were measured in turn. */
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
  /** The row that this one is compared with, round by round. */
  against?: string
  goal?: Goal
}
