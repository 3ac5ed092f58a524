import { arch, platform, release } from 'node:os'
import type { HostFacts } from '@svc/core/internal'
import { installedVersions } from '../installed-versions.ts'
import { loadCore, withDatabase } from '../host.ts'
import { DONE, UNREACHABLE, type AddVerb, type Context, type ExitCode } from '../verb.ts'

interface Options {
  schema?: string
  json?: boolean
}

const HELP = `
It has no e-mails, names, URLs and payloads. Without a database it prints the rest, and ends with 3.`

export const info: AddVerb = (program, context) => {
  program
    .command('info')
    .description('prints facts for a bug report')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--json', 'print them as JSON')
    .addHelpText('after', HELP)
    .action(context.runs((options: Options) => show(context, options)))
}

async function show(context: Context, { schema, json }: Options): Promise<ExitCode> {
  const { VERSION } = await loadCore()
  const machine = {
    command: VERSION,
    node: process.versions.node,
    system: `${platform()} ${release()} ${arch()}`,
    packages: await installedVersions(context.folder),
  }
  const { facts, exitCode } = await databaseFacts(context, schema)
  const all = { ...machine, database: facts }
  if (json) context.json(all)
  else for (const line of linesOf(all)) context.out(line)
  return exitCode
}

async function databaseFacts(
  context: Context,
  schema: string | undefined,
): Promise<{ facts: object; exitCode: ExitCode }> {
  const { inspectHosts, inspectMigrations, inspectServer } = await loadCore()
  try {
    return await withDatabase(context, schema, async (database) => {
      const server = await inspectServer(database)
      const migrations = await inspectMigrations(database).catch(() => ({}))
      const hosts = await inspectHosts(database).then(numbersOf, () => null)
      return { facts: { ...server, migrations, hosts }, exitCode: DONE }
    })
  } catch (error) {
    // The message may have the address of the server.
    const { code } = error as { code?: string }
    return { facts: { unknown: code ?? 'DATABASE_URL is not set' }, exitCode: UNREACHABLE }
  }
}

/** Names of subscriptions and tenants are the host's own. */
function numbersOf({ processes, queues, paused, failingWebhooks }: HostFacts): object {
  const sum = (of: (queue: HostFacts['queues'][number]) => number) =>
    queues.reduce((total, queue) => total + of(queue), 0)
  return {
    processes: processes.map(({ seconds, declares: { about } }) => ({
      seconds,
      version: about?.version ?? null,
      node: about?.node ?? null,
      works: about?.works ?? null,
    })),
    queues: queues.length,
    waiting: sum(({ waiting }) => waiting),
    active: sum(({ active }) => active),
    deadLetters: sum(({ dead }) => dead),
    oldestSeconds: Math.round(Math.max(0, ...queues.map(({ oldestSeconds }) => oldestSeconds))),
    pauses: paused.length,
    failingWebhooks: failingWebhooks?.count ?? null,
  }
}

/** `database.connections.open: 7` */
function linesOf(facts: object, path = ''): string[] {
  return Object.entries(facts).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null
      ? linesOf(value, `${path}${name}.`)
      : [`${path}${name}: ${String(value)}`],
  )
}
