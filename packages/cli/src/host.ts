/** How a verb reaches the database: alone, or with a host for its time, which has no server and no workers. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as OfAuth from '@svc/auth'
import type { SvcAuthOptions } from '@svc/auth'
import type * as OfCore from '@svc/core'
import type { Svc } from '@svc/core'
import type * as Core from '@svc/core/internal'
import type * as OfWebhooks from '@svc/webhooks'
import type { SvcWebhooksOptions } from '@svc/webhooks'
import type { FastifyPluginAsync } from 'fastify'
import type { Context } from './verb.ts'

/** For the verbs that use a database. The others start in half of the time without it. */
export const loadCore = (): Promise<typeof Core> => import('@svc/core/internal')

type Database = Parameters<Parameters<typeof Core.withDatabase>[1]>[0]

/** Runs `run` with a connection to the database, which is closed after it. @throws WrongUsage */
export async function withDatabase<T>(
  { database, log, signal }: Context,
  schema: string | undefined,
  run: (database: Database) => Promise<T>,
): Promise<T> {
  const core = await loadCore()
  return core.withDatabase({ database, schema, log, signal }, run)
}

type Plugin = readonly [FastifyPluginAsync<object>, object]

export interface HostOptions {
  schema?: string | undefined
  /** With the scopes that a key is to have: svcAuth refuses those that it does not know. */
  auth?: { scopes: string[] }
  webhooks?: true
}

/** @throws where a package is not installed, and what the boot and `run` throw */
export async function withHost<T>(
  context: Context,
  { schema, auth, webhooks }: HostOptions,
  run: (svc: Svc) => Promise<T>,
): Promise<T> {
  const { database, signal } = context
  const { declaredOptions } = await loadCore()
  const declared = await withDatabase(context, schema, ({ db }) =>
    declaredOptions(db).catch((error: { code?: string }) => {
      // Without tables the boot fails, with the words for it.
      if (error.code === '42P01' || error.code === '3F000') return undefined
      throw error
    }),
  )
  const { application, allowedEvents = [], days = {} } = declared ?? {}
  const daysOf = (...names: string[]) =>
    Object.fromEntries(names.filter((name) => days[name]).map((name) => [name, days[name]]))

  const { createSvc } = await packageOf<typeof OfCore>(context, '@svc/core')
  const svc = await createSvc({
    core: {
      database: { ...database, max: 2 },
      schema,
      migrate: 'check',
      ...(application && { application }),
      ...daysOf('eventRetentionDays', 'auditRetentionDays'),
    },
    plugins: [
      ...(auth ? [await authFor(context, auth.scopes)] : []),
      ...(webhooks
        ? [
            await webhooksFor(context, {
              allowedEvents,
              ...daysOf('deliveryLogRetentionDays', 'deadLetterRetentionDays'),
            }),
          ]
        : []),
    ],
  })
  const close = () => void svc.close()
  signal.addEventListener('abort', close)
  try {
    signal.throwIfAborted()
    return await run(svc)
  } finally {
    signal.removeEventListener('abort', close)
    await svc.close()
  }
}

async function authFor(context: Context, names: string[]): Promise<Plugin> {
  const { svcAuth, BUILT_IN_SCOPES } = await packageOf<typeof OfAuth>(context, '@svc/auth')
  const builtIn: readonly string[] = BUILT_IN_SCOPES
  const others = names.filter((scope) => !builtIn.includes(scope))
  const roles = others.filter((scope) => scope.startsWith(ROLE))
  const scopes = others.filter((scope) => !scope.startsWith(ROLE))
  const options: SvcAuthOptions = {
    managementBasePath: null,
    usage: false,
    // A namespace is known by a scope in it.
    scopes: scopes.map((scope) => scope.replace(/:\*$/, ':any')),
    roles: Object.fromEntries(roles.map((role) => [role.slice(ROLE.length), []])),
  }
  return [svcAuth, options]
}

async function webhooksFor(context: Context, options: SvcWebhooksOptions): Promise<Plugin> {
  const { svcWebhooks } = await packageOf<typeof OfWebhooks>(context, '@svc/webhooks')
  return [svcWebhooks, { managementBasePath: null, ...options }]
}

const ROLE = 'role:'

/** A package of the folder in which the command runs, or the package that is installed beside the command. */
export async function packageOf<Module>({ folder }: Context, name: string): Promise<Module> {
  const { installed } = await loadCore()
  const found = pathIn(folder, name)
  const module = found ? await import(pathToFileURL(found).href) : await installed(name)
  if (module) return module as Module
  const [, packageName] = /^(@svc\/[^/]+)/.exec(name)!
  throw new Error(
    `${packageName} is not installed in this folder: run "npm install ${packageName}"`,
  )
}

function pathIn(folder: string, name: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve(name)
  } catch {
    return undefined
  }
}
