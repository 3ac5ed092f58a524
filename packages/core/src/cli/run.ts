/** `npx svc …`: arguments, words and exit codes. */
import { lackOf } from '../migrations/missing-schema.ts'
import { migrateAll } from './migrate-all.ts'

export interface Output {
  out: (line: string) => void
  err: (line: string) => void
}

const HELP = `Usage: npx svc migrate [--check]

Creates the tables and queues of @svc/core, and those of @svc/auth, @svc/webhooks and @svc/console
where they are installed beside it. Existing ones are not changed. It may run repeatedly, twice at
the same time, and while hosts run.

  --check   creates nothing, and prints what is missing
  --help    prints this text

Environment
  DATABASE_URL   connection string of the database, with a role that may create schemas and tables

Exit codes
  0   everything exists
  1   something is missing, or could not be created
  2   the arguments are wrong, or DATABASE_URL is not set`

/** Returns the exit code. */
export async function run(
  args: readonly string[],
  { DATABASE_URL: url }: NodeJS.ProcessEnv,
  { out, err }: Output,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    out(HELP)
    return 0
  }
  const [command, ...options] = args
  const unknown = options.find((option) => option !== '--check')
  if (command !== 'migrate' || unknown !== undefined) {
    const what =
      command === undefined
        ? 'no command was given'
        : command === 'migrate'
          ? `there is no option ${unknown}`
          : `there is no command ${command}`
    err(`svc: ${what}\n\n${HELP}`)
    return 2
  }
  if (!url) {
    err('svc migrate: DATABASE_URL is not set: set it to the connection string of the database')
    return 2
  }
  const isCheck = options.includes('--check')
  try {
    const made = await migrateAll(url, isCheck, { out, err })
    for (const line of made) out(`made   ${line}`)
    out(made.length === 0 ? 'everything is there' : 'done')
    return 0
  } catch (error) {
    err(describeError(error as Error & { code?: string }))
    return 1
  }
}

function describeError(error: Error & { code?: string }): string {
  const lack = lackOf(error)
  const what = lack
    ? `svc migrate --check: ${lack}. Run "npx svc migrate" to create them`
    : `svc migrate: ${error.message}`
  return error.code ? `${what} (${error.code})` : what
}
