import { parseArgs } from 'node:util'

export interface Arguments {
  names: string[]
  quick: boolean
  long: boolean
  list: boolean
  help: boolean
  statements: boolean
  rounds?: number | undefined
  beside?: string | undefined
  json?: string | undefined
  markdown?: string | undefined
  profile?: string | undefined
}

export const HELP = `bench [name …] [options]

A name is that of a benchmark or of a group: "guard" runs all of guard-….

  --list           names and titles of the benchmarks
  --quick          a smoke run: seconds instead of minutes, the figures mean nothing
  --long           memory-soak for ten minutes instead of one, growth-recovery with a million
  --rounds N       measured rounds (default 3)
  --beside DIR     another checkout, measured in turn with this one
                   (guard-cpu, publish-concurrent, subscribe, delivery-throughput,
                   delivery-fan-out, delivery-ordered, steady-delivery, inbound and at-rest)
  --json FILE      all results with every sample
  --markdown FILE  the tables as Markdown
  --profile DIR    a CPU profile of each process
  --statements     the statements that took most of Postgres's time (own server only)

Each benchmark starts a Postgres of its own, or uses the server that DATABASE_URL names.`

const flag = { type: 'boolean', default: false } as const
const text = { type: 'string' } as const

/** @throws if an option is unknown or its value is invalid */
export function parseArguments(given: string[]): Arguments {
  const { values, positionals: names } = parseArgs({
    // pnpm passes on the "--" of "pnpm bench -- --quick".
    args: given[0] === '--' ? given.slice(1) : given,
    allowPositionals: true,
    options: {
      quick: flag,
      long: flag,
      list: flag,
      help: flag,
      statements: flag,
      rounds: text,
      beside: text,
      json: text,
      markdown: text,
      profile: text,
    },
  })
  const { rounds, ...others } = values
  if (rounds === undefined) return { ...others, names }
  if (!/^[1-9]\d*$/.test(rounds)) {
    throw new Error(`--rounds must be an integer of at least 1, got "${rounds}"`)
  }
  return { ...others, names, rounds: Number(rounds) }
}

/** The named benchmarks in the order of the list; all of them without a name. */
export function chosen<Named extends { name: string }>(all: Named[], names: string[]): Named[] {
  const matches = (one: Named, name: string) => one.name === name || one.name.startsWith(`${name}-`)
  for (const name of names) {
    if (all.some((one) => matches(one, name))) continue
    const known = all.map((one) => one.name).join(', ')
    throw new Error(`There is no benchmark "${name}"; there are: ${known}`)
  }
  return names.length === 0 ? all : all.filter((one) => names.some((name) => matches(one, name)))
}
