import { Option } from 'commander'
import type { UpkeepOutcome } from '@svc/core/internal'
import { loadCore } from '../host.ts'
import { DONE, TO_DO, type AddVerb, type Context, type ExitCode } from '../verb.ts'

const HELP = `
Makes the tables and queues of @svc/core, and those of @svc/auth, @svc/webhooks and @svc/console
where they are installed in this folder. It may run repeatedly, twice at the same time, and while
hosts run. The role of DATABASE_URL needs the right to create schemas and tables.`

interface Options {
  check?: boolean
  plan?: boolean
  grantTo?: string
  schema?: string
  json?: boolean
}

export const migrate: AddVerb = (program, context) => {
  program
    .command('migrate')
    .description('makes the tables and queues that the installed packages need')
    .addOption(new Option('--check', 'make nothing, and print what is missing').conflicts('plan'))
    .option('--plan', 'make nothing, and print the SQL that would run')
    .option('--grant-to <role>', 'give a role the rights of hosts that make no tables themselves')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(context.runs((options: Options) => migrated(context, options)))
}

async function migrated(context: Context, options: Options): Promise<ExitCode> {
  const { check = false, plan, grantTo, schema, json } = options
  const { database, log, signal } = context
  const { checkAll, migrateAll, planAll } = await loadCore()
  if (plan) {
    const statements = await planAll({ database, schema, log, signal, grantTo })
    if (json) context.json({ statements })
    else for (const statement of statements) context.out(`${statement}\n`)
    if (statements.length === 0 && !json) context.out('-- everything is there')
    return statements.length === 0 ? DONE : TO_DO
  }
  const outcome = await (check ? checkAll : migrateAll)({ database, schema, log, signal, grantTo })
  const isComplete = outcome.problems.length === 0 && outcome.lackedGrants.length === 0
  if (json) context.json(factsOf(outcome))
  else report(context, outcome, options)
  return isComplete ? DONE : TO_DO
}

function factsOf({ packages, made, lackedGrants, problems }: UpkeepOutcome): object {
  return {
    packages,
    made,
    lackedGrants,
    missing: problems.map(({ owner, lack, error }) => ({
      owner,
      what: lack ?? error.message,
      code: error.code ?? null,
    })),
  }
}

function report(
  context: Context,
  { packages, made, lackedGrants, problems }: UpkeepOutcome,
  { check = false, grantTo, schema }: Options,
): void {
  const isComplete = problems.length === 0 && lackedGrants.length === 0
  if (made.length > 0 || isComplete) context.out(`of ${packages.join(', ')}:`)
  for (const line of made) context.out(`made   ${line}`)
  const named = context.styleErr('red', check ? 'svc migrate --check:' : 'svc migrate:')
  for (const { owner, lack, error } of problems) {
    const text = lack ?? `${owner} is not complete: ${error.message}`
    context.err(`${named} ${text}${error.code === undefined ? '' : ` (${error.code})`}`)
  }
  for (const statement of lackedGrants) context.err(`${named} the role lacks: ${statement}`)
  if (isComplete) context.out(made.length === 0 ? 'everything is there' : 'done')
  if (isComplete || !check) return
  const command = [
    'npx svc migrate',
    ...(schema === undefined ? [] : [`--schema ${schema}`]),
    ...(grantTo === undefined ? [] : [`--grant-to ${grantTo}`]),
  ].join(' ')
  context.err(`${named} run "${command}" to create what is missing`)
}
