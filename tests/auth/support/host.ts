/** A host application with svcAuth, on a database of its own, closed when the test ends. */
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { svcAuth, type NewApiKey, type SvcAuthOptions } from '@svc/auth'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { freshDatabase } from '../../support/fresh-database.ts'
import type { Test as Tap } from 'tap'
import { newHost } from '../../support/new-host.ts'

export const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'

export interface HostOptions {
  /** Connection string; a fresh database where it is not given. */
  database?: string
  auth?: SvcAuthOptions
  core?: SvcCoreOptions
  fastify?: FastifyServerOptions
  /** Before svcAuth. */
  before?: (app: FastifyInstance) => void | Promise<void>
  /** After svcAuth. */
  after?: (app: FastifyInstance) => void | Promise<void>
}

export interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of many shapes
  body: any
  headers: Record<string, unknown>
}

export interface Ask {
  (method: string, path: string, options?: AskOptions): Promise<Answer>
}

export interface AskOptions {
  /** The bootstrap key unless told; `null` sends none. */
  key?: string | null
  body?: object
  headers?: Record<string, string | string[]>
}

export interface Host {
  app: FastifyInstance
  database: string
  ask: Ask
  /** A user with an email of its own. */
  makeUser: (tenant?: string | null) => Promise<{ id: string }>
  /** A key, of a user of its own unless told. */
  makeKey: (input?: KeyInput) => Promise<MadeKey>
  /** Ends a key that has a row: no operation sets an expiry that has passed. */
  endKey: (id: string) => Promise<unknown>
}

/** `tenant`: that of the user that is made for the key. */
export type KeyInput = Partial<NewApiKey>

/** `GET /me` answers with who is asking. */
export const withMe = (app: FastifyInstance): void =>
  void app.get('/me', async (request) => request.auth)

export const statusOf = async (
  { ask }: Pick<Host, 'ask'>,
  key: string | null,
  path = '/me',
): Promise<number> => (await ask('GET', path, { key })).status

export interface MadeKey {
  id: string
  userId: string
  tenant: string | null
  key: string
  keyPrefix: string
}

export async function startHost(t: Tap, options: HostOptions = {}): Promise<Host> {
  const { database = await freshDatabase(t) } = options
  const app = await prepareHost(t, { ...options, database })
  await app.ready()
  return { app, database, ...conversation(app) }
}

/** A host that is not booted yet. */
export async function prepareHost(
  t: Tap,
  { database, auth, core, fastify, before, after }: HostOptions & { database: string },
): Promise<FastifyInstance> {
  // A boot takes long on a busy machine.
  const app = newHost(t, { ...fastify })
  await before?.(app)
  await app.register(svcCore, {
    database: { connectionString: database, max: 5 },
    secrets: (name) => (name === 'BOOTSTRAP_KEY' ? BOOTSTRAP_KEY : null),
    worker: { enabled: false },
    ...core,
  })
  await app.register(svcAuth, { bootstrapKeySecret: 'BOOTSTRAP_KEY', ...auth })
  await after?.(app)
  return app
}

function conversation(app: FastifyInstance) {
  const ask: Ask = async (method, path, { key = BOOTSTRAP_KEY, body, headers } = {}) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: path,
      headers: { ...(key === null ? {} : { 'x-api-key': key }), ...headers },
      ...(body === undefined ? {} : { payload: body }),
    })
    return { status: answer.statusCode, body: parsed(answer.body), headers: answer.headers }
  }
  let users = 0
  const { actions } = app.svc
  const makeUser = (tenant: string | null = null) =>
    actions.call('__svc.auth.createUser', {
      email: `user-${process.pid}-${Date.now()}-${users++}@example.com`,
      name: 'User',
      tenant,
    })
  const makeKey = async ({ userId, tenant, ...input }: KeyInput = {}) =>
    actions.call('__svc.auth.createApiKey', {
      userId: userId ?? (await makeUser(tenant)).id,
      ...input,
    })
  const endKey = (id: string) =>
    app.svc.database.query(
      `update svc."__svc.auth.api_keys" set expires_at = now() where id = $1`,
      [id],
    )
  return { ask, makeUser, makeKey, endKey }
}

function parsed(body: string): unknown {
  if (body === '') return undefined
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
