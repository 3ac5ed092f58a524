/** A host with all plugins and the console on a database of its own, and a browser's side of it. */
import type { FastifyInstance } from 'fastify'
import { svcAuth, type SvcAuthOptions } from '@svc/auth'
import { svcConsole, type SvcConsoleOptions } from '@svc/console'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { svcWebhooks, type SvcWebhooksOptions } from '@svc/webhooks'
import type { Test } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { builtPage } from './built-page.ts'
import { newHost } from '../../support/new-host.ts'

export const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'
export const HOST = 'console.example'

export interface HostOptions {
  /** @default a new one */
  database?: string
  /** `null`: the plugin is not registered. */
  console?: SvcConsoleOptions | null
  core?: SvcCoreOptions
  /** `null`: the plugin is not registered. */
  auth?: SvcAuthOptions | null
  webhooks?: SvcWebhooksOptions | null
  /** Before all plugins. */
  before?: (app: FastifyInstance) => unknown
  fastify?: object
}

export interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test expects of it is its matter
  body: any
  text: string
  headers: Record<string, string | string[] | number | undefined>
}

/** What a browser sends from a page of the console. */
export const FROM_PAGE = {
  origin: `http://${HOST}`,
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/json',
}

export interface Visitor {
  cookie: string
  /** Calls an operation as the page does. */
  call: (operation: string, input?: unknown, headers?: Record<string, string>) => Promise<Answer>
  session: () => Promise<Answer>
  end: () => Promise<Answer>
}

export interface Host {
  app: FastifyInstance
  database: string
  ask: (method: string, path: string, options?: AskOptions) => Promise<Answer>
  visitor: (cookie?: string) => Visitor
  /** Signs in with a key, with these scopes unless one is given. */
  signIn: (key?: string) => Promise<Visitor>
  keyOf: (scopes: string[], tenant?: string | null) => Promise<{ id: string; key: string }>
  /** Follows a portal link to its session. */
  follow: (link: string) => Promise<Visitor>
}

interface AskOptions {
  headers?: Record<string, string | undefined>
  body?: unknown
}

export async function startHost(t: Test, options: HostOptions = {}): Promise<Host> {
  const { database = await freshDatabase(t) } = options
  await builtPage()
  const app = newHost(t, { ...options.fastify })
  await options.before?.(app)
  await app.register(svcCore, {
    database: { connectionString: database, max: 5 },
    secrets: (name) => (name === 'BOOTSTRAP_KEY' ? BOOTSTRAP_KEY : null),
    ...options.core,
  })
  if (options.auth !== null) {
    await app.register(svcAuth, { bootstrapKeySecret: 'BOOTSTRAP_KEY', ...options.auth })
  }
  if (options.webhooks !== null) {
    await app.register(svcWebhooks, {
      allowedEvents: ['order.created', 'order.shipped'],
      allowedNetworks: ['127.0.0.0/8'],
      inboundTests: true,
      ...options.webhooks,
    })
  }
  if (options.console !== null) await app.register(svcConsole, options.console ?? {})
  await app.ready()
  return { app, database, ...conversation(app, options.console?.path ?? '/console') }
}

function conversation(app: FastifyInstance, base: string) {
  const ask: Host['ask'] = async (method, path, { headers = {}, body } = {}) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: path,
      headers: present({ host: HOST, ...headers }),
      ...(body === undefined ? {} : { payload: body as object }),
    })
    const text = answer.body
    return { status: answer.statusCode, body: parsed(text), text, headers: answer.headers }
  }
  const visitor = (cookie = ''): Visitor => ({
    cookie,
    call: (operation, input = {}, headers = {}) =>
      ask('POST', `${base}/api/${operation}`, {
        headers: { ...FROM_PAGE, cookie, ...headers },
        body: typeof input === 'string' ? input : JSON.stringify(input),
      }),
    session: () => ask('GET', `${base}/api/session`, { headers: { cookie } }),
    end: () =>
      ask('POST', `${base}/api/session/end`, { headers: { ...FROM_PAGE, cookie }, body: '{}' }),
  })
  const begun = (answer: Answer): Visitor => {
    const [set] = [answer.headers['set-cookie']].flat()
    if (set === undefined) throw new Error(`no session: ${answer.status} ${answer.text}`)
    return visitor(String(set).split(';')[0])
  }
  let users = 0
  return {
    ask,
    visitor,
    signIn: async (key = BOOTSTRAP_KEY) =>
      begun(
        await ask('POST', `${base}/api/session`, {
          headers: FROM_PAGE,
          body: JSON.stringify({ key }),
        }),
      ),
    follow: async (link: string) => begun(await ask('GET', link)),
    async keyOf(scopes: string[], tenant: string | null = null) {
      const email = `user-${users++}@example.com`
      const user = await app.svc.auth.createUser({ email, name: 'User', tenant })
      return await app.svc.auth.createApiKey({ userId: user.id, scopes })
    },
  }
}

/** Headers that are `undefined` are not sent. */
const present = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  )

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
