// What a host may write with auth, and what must not compile: checked by `tsc`, never run.
import { requestContext } from '@fastify/request-context'
import svcAuth, {
  Blocked,
  EmailTaken,
  InvalidKey,
  UserNotFound,
  authOf,
  svcAuth as named,
  type ApiKey,
  type Auth,
  type AuthOperations,
  type CreatedApiKey,
  type NewApiKey,
  type NewUser,
  type RateLimit,
  type Scope,
  type SvcAuthOptions,
  type User,
  type Validation,
} from '@svc/auth'
import Fastify from 'fastify'

const app = Fastify()
await app.register(svcAuth)
await app.register(named, { protectedPaths: 'all', managementBasePath: null })
const rateLimit: RateLimit = { maxAttempts: 5, windowMs: 60_000, blockDurationMs: 900_000 }
const options: SvcAuthOptions = {
  protectedPaths: ['/api'],
  excludePaths: ['/health'],
  bootstrapKeySecret: 'BOOTSTRAP_KEY',
  managementBasePath: '/_auth',
  rateLimit,
  webhooksManagementPaths: ['/_webhooks'],
  scopes: ['billing:read'],
  hooksBeforeGuard: ['mine', async () => {}],
  requestContext: true,
  roles: { viewer: ['read', 'billing:*'] },
  maxKeysPerTenant: 100,
  maxKeyLifetimeDays: 365,
  expiryNoticeDays: [30, 7],
  unusedNoticeDays: 90,
  githubLeaks: { keys: [{ key_identifier: 'x', key: 'PEM' }] },
  keyPrefix: 'ac',
  openapi: false,
}
await app.register(svcAuth, options)
// @ts-expect-error -- no such option
await app.register(svcAuth, { protectedPath: [] })
// @ts-expect-error -- a list, not one path
await app.register(svcAuth, { excludePaths: '/health' })
// @ts-expect-error -- all three fields are the configuration
await app.register(svcAuth, { rateLimit: { maxAttempts: 5 } })

app.get('/invoices', { config: { scopes: ['billing:read', 'admin'] } }, async (request) => {
  const auth: Auth | null = request.auth
  const userId: string | null | undefined = request.auth?.userId
  const scopes: readonly Scope[] = request.auth?.scopes ?? []
  const keyId: string | null | undefined = request.auth?.keyId
  const bootstrap: boolean | undefined = request.auth?.bootstrap
  const tenant: string | null | undefined = request.auth?.tenant
  const present: Auth = authOf(request)
  // @ts-expect-error -- it may be null
  const sure: string | null = request.auth.userId
  // @ts-expect-error -- nobody changes who asks
  if (request.auth) request.auth.userId = 'somebody else'
  return { auth, userId, scopes, keyId, bootstrap, tenant, present, sure }
})
app.get('/products', { config: { public: true } }, async () => [])
// @ts-expect-error -- a list, not one scope
app.get('/reports', { config: { scopes: 'billing:read' } }, async () => [])

const inContext: string | null | undefined = requestContext.get('auth.userId')
const scopesInContext: readonly Scope[] | undefined = requestContext.get('auth.scopes')
const isBootstrap: boolean | undefined = requestContext.get('auth.bootstrap')
// @ts-expect-error -- no such key
requestContext.get('auth.user')

const { actions } = app.svc
const wanted: NewUser = { email: 'ada@example.com', name: 'Ada', role: 'boss' }
const user: User = await actions.call('__svc.auth.createUser', wanted)
const users: User[] = await actions.call('__svc.auth.listUsers')
const one: User = await actions.call('__svc.auth.getUser', user.id)
const input: NewApiKey = { userId: user.id, label: null, expiresAt: null, scopes: ['read'] }
const made: CreatedApiKey = await actions.call('__svc.auth.createApiKey', input)
const keys: ApiKey[] = await actions.call('__svc.auth.listApiKeys', user.id)
const validation: Validation = await actions.call('__svc.auth.validateApiKey', made.key)
await actions.call('__svc.auth.revokeApiKey', made.id)
await actions.call('__svc.auth.deleteUser', user.id)
const { auth } = app.svc
const operations: AuthOperations = auth
const both: CreatedApiKey = await app.svc.transaction(async (db) => {
  const { id } = await operations.createUser(wanted, { db })
  return operations.createApiKey({ userId: id }, { db })
})
await auth.revokeApiKey(both.id)
// @ts-expect-error -- no such option
await auth.createUser(wanted, { transaction: true })
// @ts-expect-error -- a read takes no transaction
await auth.getUser(user.id, { db: app.svc.database })
// @ts-expect-error -- no such action
await actions.call('__svc.auth.makeUser', wanted)
// @ts-expect-error -- a field is missing
await actions.call('__svc.auth.createUser', { name: 'Ada' })
// @ts-expect-error -- the argument is missing
await actions.call('__svc.auth.getUser')
// @ts-expect-error -- an id is text
await actions.call('__svc.auth.revokeApiKey', 5)
// @ts-expect-error -- a listed key has no text
const text: string = keys[0]?.key

try {
  await actions.call('__svc.auth.getUser', 'x')
} catch (error) {
  if (error instanceof UserNotFound) app.log.info(error.code)
}
export const errors = [Blocked, EmailTaken, InvalidKey]
export const told = [inContext, scopesInContext, isBootstrap, users, one, validation, text]
