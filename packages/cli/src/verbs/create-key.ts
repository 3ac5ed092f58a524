import type { Svc } from '@svc/core'
import type * as TablesOfAuth from '@svc/auth/migrations'
import { packageOf, withDatabase, withHost } from '../host.ts'
import { DONE, WrongUsage, type AddVerb, type Context } from '../verb.ts'

interface Options {
  email: string
  name: string
  scopes?: string
  tenant?: string
  expires?: string
  schema?: string
  json?: boolean
}

export const createKey: AddVerb = (program, context) => {
  program
    .command('create-key')
    .description('makes an API key, and a user if no user has this e-mail')
    .requiredOption('--email <address>', 'the user of the key')
    .requiredOption('--name <name>', 'the name of the user, where it is new')
    .option('--scopes <a,b>', 'what the key may do (default: read,write)')
    .option('--tenant <tenant>', 'the tenant of the user')
    .option('--expires <time>', 'such as 90d, 2030-01-31 or 2030-01-31T12:00:00Z')
    .option('--schema <name>', 'the option "schema" of svcCore, where the host has it')
    .option('--json', 'print the key and its fields as JSON')
    .addHelpText('after', '\nThe key is printed once: it cannot be read again.')
    .action(
      context.runs(async (options: Options) => {
        const { scopes, expires, schema, json } = options
        const names = scopes?.split(',').map((scope) => scope.trim())
        const expiresAt = expires === undefined ? undefined : timeOf(expires)
        const made = await withHost(
          context,
          { schema, auth: { scopes: names ?? [] } },
          async (svc) =>
            svc.auth.createApiKey({
              userId: await userOf(context, svc, options),
              ...(names && { scopes: names }),
              ...(expiresAt && { expiresAt }),
            }),
        )
        if (json) context.json(made)
        else {
          context.err(`key ${made.id} of user ${made.userId}, with ${made.scopes.join(', ')}:`)
          context.out(made.key)
        }
        return DONE
      }),
    )
}

/** Finds the user with this e-mail, or makes one. Returns the id. */
async function userOf(
  context: Context,
  svc: Svc,
  { email, name, tenant, schema }: Options,
): Promise<string> {
  const { findUserByEmail } = await packageOf<typeof TablesOfAuth>(context, '@svc/auth/migrations')
  const known = await withDatabase(context, schema, ({ db }) =>
    findUserByEmail(db, email, tenant ?? null),
  )
  if (known !== undefined) return known
  const { id } = await svc.auth.createUser({ email, name, ...(tenant !== undefined && { tenant }) })
  return id
}

const DAY_MS = 24 * 3600_000

/** @throws WrongUsage */
function timeOf(text: string): string {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? []
  if (days !== undefined) return new Date(Date.now() + Number(days) * DAY_MS).toISOString()
  const isTime = /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/.test(text)
  const time = new Date(isTime ? text : Number.NaN)
  if (!Number.isNaN(time.getTime())) return time.toISOString()
  throw new WrongUsage(
    `--expires must be a number of days such as 90d, a date such as 2030-01-31, or a time with an offset, got "${text}"`,
  )
}
