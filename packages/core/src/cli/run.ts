/** `npx svc …`: arguments, words and exit codes. */
import type { FastifyBaseLogger } from 'fastify'
import { lackOf } from '../migrations/missing-schema.ts'
import { checkAll } from './check-all.ts'
import { migrateAll, type Outcome, type Problem } from './migrate-all.ts'

export interface Output {
  out: (line: string) => void
  err: (line: string) => void
}

const HELP = `Usage: npx svc migrate [--check] [--schema <name>]

Creates the tables and queues of @svc/core, and those of @svc/auth, @svc/webhooks and @svc/console
where they are installed beside it. Existing ones are not changed. It may run repeatedly, twice at
the same time, and while hosts run.

  --check           creates nothing, and prints what is missing of each package
  --schema <name>   the option "schema" of svcCore, where the host has it
  --help            prints this text

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
  const place = options.indexOf('--schema')
  const named = place === -1 ? [] : options.splice(place, 2)
  const [, schema] = named
  const unknown = options.find((option) => option !== '--check')
  if (command !== 'migrate' || unknown !== undefined || named.length === 1) {
    const what =
      command === undefined
        ? 'no command was given'
        : command !== 'migrate'
          ? `there is no command ${command}`
          : unknown === undefined
            ? '--schema needs the name of a schema'
            : `there is no option ${unknown}`
    err(`svc: ${what}\n\n${HELP}`)
    return 2
  }
  if (!url) {
    err('svc migrate: DATABASE_URL is not set: set it to the connection string of the database')
    return 2
  }
  const isCheck = options.includes('--check')
  try {
    const outcome = await (isCheck ? checkAll : migrateAll)(url, schema, logTo(err))
    return report(outcome, schema, { out, err })
  } catch (error) {
    err(`svc migrate: ${withCode((error as Error).message, error as Problem['error'])}`)
    return 1
  }
}

function report(
  { packages, made, problems }: Outcome,
  schema: string | undefined,
  { out, err }: Output,
): 0 | 1 {
  if (made.length > 0 || problems.length === 0) out(`of ${packages.join(', ')}:`)
  for (const line of made) out(`made   ${line}`)
  for (const { owner, error } of problems) {
    const lack = lackOf(error)
    if (lack !== undefined) err(`svc migrate --check: ${withCode(lack, error)}`)
    else err(`svc migrate: ${owner} is not complete: ${withCode(error.message, error)}`)
  }
  if (problems.length === 0) {
    out(made.length === 0 ? 'everything is there' : 'done')
    return 0
  }
  const isCheck = problems.some(({ error }) => lackOf(error) !== undefined)
  const command = `npx svc migrate${schema === undefined ? '' : ` --schema ${schema}`}`
  if (isCheck) err(`svc migrate --check: run "${command}" to create what is missing`)
  return 1
}

const withCode = (text: string, { code }: Problem['error']): string =>
  code === undefined ? text : `${text} (${code})`

/** Logs only warnings: a migration that waits for a lock logs one. */
function logTo(err: Output['err']): FastifyBaseLogger {
  const warn = (details: { err?: Error; statements?: string[] }, message: string) => {
    err(details.err ? `${message}: ${details.err.message}` : message)
    for (const statement of details.statements ?? []) err(statement)
  }
  const nothing = () => {}
  const log = { level: 'warn', warn, error: warn, fatal: warn, info: nothing, debug: nothing }
  return {
    ...log,
    trace: nothing,
    silent: nothing,
    child: () => log,
  } as unknown as FastifyBaseLogger
}
