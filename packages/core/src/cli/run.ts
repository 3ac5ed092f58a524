/** `npx svc …`: arguments, words and exit codes. */
import { migrateAll } from './migrate-all.ts'

export interface Output {
  out: (line: string) => void
  err: (line: string) => void
}

const HELP = `Usage: npx svc migrate [--check]

Makes the tables and queues of @svc/core, and of @svc/auth and @svc/webhooks where they are
installed beside it. Those that are there already are left alone. It may run again, at the same
time as another one, and beside hosts that run.

  --check   makes nothing: says what is missing
  --help    shows this

Environment
  DATABASE_URL   the database, as a role that may create schemas and tables in it

Exit codes
  0   everything is there
  1   --check: something is missing; else: it could not be made
  2   the arguments or DATABASE_URL are wrong`

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
    err('svc migrate: DATABASE_URL is not set: give it the connection string of the database')
    return 2
  }
  const isCheck = options.includes('--check')
  try {
    const made = await migrateAll(url, isCheck, { out, err })
    for (const line of made) out(`made   ${line}`)
    out(made.length === 0 ? 'everything is there' : 'done')
    return 0
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    err(code ? `svc migrate: ${message} (${code})` : `svc migrate: ${message}`)
    return 1
  }
}
