import { parseArgs } from 'node:util'

export interface Arguments {
  names: string[]
  quick: boolean
  long: boolean
  list: boolean
  help: boolean
  statements: boolean
  rounds: number | undefined
  json: string | undefined
  markdown: string | undefined
  profile: string | undefined
}

export const HELP = `bench [name …] [options]

A name is that of a benchmark, or the beginning of several: "guard" runs them all.

  --list           the benchmarks, and what each measures
  --quick          a smoke run: seconds instead of minutes, figures that mean nothing
  --long           endurance for ten minutes instead of one
  --rounds N       measured rounds, 3 unless told
  --json FILE      everything that was measured, with every sample
  --markdown FILE  the tables for a document
  --profile DIR    a CPU profile of each process
  --statements     what Postgres spent its time on (its own server only)

DATABASE_URL names the Postgres to use, else one is started for each benchmark.`

/** @throws where an option is unknown or its value makes no sense */
export function parseArguments(given: string[]): Arguments {
  const { values, positionals } = parseArgs({
    // pnpm hands the "--" of "pnpm bench -- --quick" on.
    args: given[0] === '--' ? given.slice(1) : given,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      statements: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      json: { type: 'string' },
      markdown: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1)) {
    throw new Error(`--rounds must be an integer of at least 1, got "${values.rounds}"`)
  }
  return {
    ...values,
    names: positionals,
    rounds,
    json: values.json,
    markdown: values.markdown,
    profile: values.profile,
  }
}

/** Those that were named, in the order of the list; all where none was. */
export function chosen<Named extends { name: string }>(all: Named[], names: string[]): Named[] {
  for (const name of names) {
    if (!all.some((one) => isMeant(one.name, name))) {
      throw new Error(
        `There is no benchmark "${name}"; there are: ${all.map((one) => one.name).join(', ')}`,
      )
    }
  }
  if (names.length === 0) return all
  return all.filter((one) => names.some((name) => isMeant(one.name, name)))
}

const isMeant = (name: string, given: string): boolean =>
  name === given || name.startsWith(`${given}-`)
