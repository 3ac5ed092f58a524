/** A host for the time of a verb, without a server and without workers, of the packages of the folder. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type {} from '@svc/auth'
import type { Svc } from '@svc/core'
import { declaredOptions, installed, withDatabase } from '@svc/core/internal'
import type {} from '@svc/webhooks'
import Fastify from 'fastify'
import type { Context } from './verb.ts'

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
  const { databaseUrl: url, log, signal } = context
  const { svcCore } = await packageOf<typeof import('@svc/core')>(context, '@svc/core')
  const declared = await withDatabase({ url, schema, log }, ({ db }) =>
    declaredOptions(db).catch((error: { code?: string }) => {
      // Without tables the boot fails, with the words for it.
      if (error.code === '42P01' || error.code === '3F000') return undefined
      throw error
    }),
  )
  const { application, allowedEvents = [], days = {} } = declared ?? {}
  const daysOf = (...names: string[]) =>
    Object.fromEntries(names.filter((name) => days[name]).map((name) => [name, days[name]]))

  const app = Fastify({ pluginTimeout: 0 })
  const close = () => void app.close()
  signal.addEventListener('abort', close)
  try {
    await app.register(svcCore, {
      database: { connectionString: url, max: 2 },
      schema,
      migrate: 'check',
      worker: { enabled: false },
      ...(application && { application }),
      ...daysOf('eventRetentionDays', 'auditRetentionDays'),
    })
    if (auth) {
      const { svcAuth, BUILT_IN_SCOPES } = await packageOf<typeof import('@svc/auth')>(
        context,
        '@svc/auth',
      )
      const builtIn: readonly string[] = BUILT_IN_SCOPES
      const others = auth.scopes.filter((scope) => !builtIn.includes(scope))
      const [roles, scopes] = [others.filter(isRole), others.filter((scope) => !isRole(scope))]
      await app.register(svcAuth, {
        managementBasePath: null,
        usage: false,
        // A namespace is known by a scope in it.
        scopes: scopes.map((scope) => scope.replace(/:\*$/, ':any')),
        roles: Object.fromEntries(roles.map((role) => [role.slice(ROLE.length), []])),
      })
    }
    if (webhooks) {
      const { svcWebhooks } = await packageOf<typeof import('@svc/webhooks')>(
        context,
        '@svc/webhooks',
      )
      await app.register(svcWebhooks, {
        managementBasePath: null,
        allowedEvents,
        ...daysOf('deliveryLogRetentionDays', 'deadLetterRetentionDays'),
      })
    }
    await app.ready()
    return await run(app.svc)
  } finally {
    signal.removeEventListener('abort', close)
    await app.close()
  }
}

const ROLE = 'role:'
const isRole = (scope: string): boolean => scope.startsWith(ROLE)

/** Of the folder in which the command runs, else one that is installed beside the command. */
async function packageOf<Module>({ folder }: Context, name: string): Promise<Module> {
  const found = pathIn(folder, name)
  const module = found ? await import(pathToFileURL(found).href) : await installed(name)
  if (module) return module as Module
  throw new Error(`${name} is not installed in this folder: run "npm install ${name}"`)
}

function pathIn(folder: string, name: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve(name)
  } catch {
    return undefined
  }
}
