/** `npx svc <verb>`: the verbs, and which exit code an error has. */
import { Command, CommanderError } from 'commander'
import { loadCore } from './host.ts'
import { ownVersion } from './installed-versions.ts'
import {
  Context,
  TO_DO,
  UNREACHABLE,
  Unreachable,
  WRONG_USAGE,
  WrongUsage,
  type AddVerb,
  type ExitCode,
  type Surroundings,
} from './verb.ts'
import { createKey } from './verbs/create-key.ts'
import { doctor } from './verbs/doctor.ts'
import { info } from './verbs/info.ts'
import { init } from './verbs/init.ts'
import { listen } from './verbs/listen.ts'
import { migrate } from './verbs/migrate.ts'
import { pause, redrive, resume } from './verbs/pause-and-redrive.ts'
import { secret } from './verbs/secret.ts'
import { send } from './verbs/send.ts'
import { sink } from './verbs/sink.ts'
import { status } from './verbs/status.ts'

const VERBS: AddVerb[] = [
  init,
  secret,
  createKey,
  migrate,
  doctor,
  info,
  status,
  send,
  redrive,
  pause,
  resume,
  listen,
  sink,
]

const HELP = `
Environment:
  DATABASE_URL  connection string of the database; several hosts are separated by commas
  PGPASSFILE    a file with its password, where the connection string has none
  SVC_PASSWORD_COMMAND
                a command that prints its password, run for each connection
  SVC_KEY       an API key, for the verbs with --url
  NO_COLOR      without colours, as in a pipe

Exit codes:
  0  done
  1  something is to be done, or could not be done
  2  the arguments are wrong, or DATABASE_URL is not set or not a connection string
  3  the database, or the host, could not be reached or did not let this caller in`

/** Returns the exit code. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const context = new Context(surroundings)
  const program = new Command('svc')
    .usage('<verb> [options]')
    .description('Runs and inspects hosts with @svc/core, @svc/auth and @svc/webhooks.')
    .version(ownVersion(), '--version', 'print the version of this command')
    .addHelpText('after', HELP)
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.err(text.trimEnd()),
    })
    .showHelpAfterError('Run it with --help to see what it takes.')
    .exitOverride()
  for (const add of VERBS) add(program, context)
  for (const verb of program.commands) verb.copyInheritedSettings(program)
  try {
    await program.parseAsync(args, { from: 'user' })
    return context.exitCode
  } catch (error) {
    // Its text has been written.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE
    if (surroundings.signal.aborted) return 0
    const { message, code, docs } = error as Error & { code?: unknown; docs?: string }
    const named = typeof code === 'string' ? ` (${code})` : ''
    context.err(
      `${context.styleErr('red', `svc ${args[0]}:`)} ${forCommand(message, code)}${named}`,
    )
    if (docs !== undefined) context.err(context.styleErr('dim', docs))
    return await exitCodeOf(error as Error)
  }
}

const NO_RIGHT = '42501'

/** Errors of core are written for hosts, which have options and boot. Those of Postgres know no remedy. */
function forCommand(message: string, code: unknown): string {
  if (code === NO_RIGHT) {
    return `${message}: the role of DATABASE_URL lacks rights, which "npx svc doctor" names`
  }
  return FOR_HOSTS.reduce((text, [theirs, ours]) => text.replace(theirs, ours), message)
}

const FOR_HOSTS: [string | RegExp, string][] = [
  // The fields of an operation are options of the verb.
  [/\binput\/expiresAt\b/, '--expires'],
  [/\binput\/(\w+)(?:\/\d+)?/, '--$1'],
  [/^svcCore: /, ''],
  ['the option "database" (by default the secret DATABASE_URL)', 'DATABASE_URL'],
  [/(the function )?"password"/, 'SVC_PASSWORD_COMMAND'],
  ['the function that gives the password', 'SVC_PASSWORD_COMMAND'],
  [/^the option "schema" must/, '--schema must'],
  ['the option "migrate" is "check", and ', ''],
  [', then boot again', ''],
  ['boot again when', 'run it again when'],
  ['or boot once as a role', 'or use a role'],
]

const OF_CODES: Record<string, ExitCode> = {
  SVC_CORE_DATABASE_UNREACHABLE: UNREACHABLE,
  SVC_UNAVAILABLE: UNREACHABLE,
  SVC_CORE_INVALID_OPTION: WRONG_USAGE,
  SVC_INVALID_INPUT: WRONG_USAGE,
  SVC_AUTH_EXPIRY_IN_PAST: WRONG_USAGE,
  SVC_CORE_INVALID_EVENT_NAME: WRONG_USAGE,
  SVC_CORE_RESERVED_EVENT_NAME: WRONG_USAGE,
  SVC_CORE_INVALID_EVENT_ID: WRONG_USAGE,
}

async function exitCodeOf(error: Error & { code?: string }): Promise<ExitCode> {
  if (error instanceof WrongUsage) return WRONG_USAGE
  if (error instanceof Unreachable) return UNREACHABLE
  const known = OF_CODES[error.code ?? '']
  if (known !== undefined) return known
  const { isConnectionError } = await loadCore()
  return isConnectionError(error) ? UNREACHABLE : TO_DO
}
