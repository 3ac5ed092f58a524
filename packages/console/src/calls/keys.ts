import type {
  KeyFilter,
  KeyRotation,
  KeyUpdate,
  NearLimitsQuery,
  NewApiKey,
  UsageQuery,
  UserFilter,
} from '@svc/auth'
import { isAdmin } from '../access/identity.ts'
import { Anything, asIs, callsOf, Id, List, Nothing, pageOf } from './call.ts'

const { reads, changes } = callsOf('auth')

/** Every caller may give them. The option `scopes` says whether sessions without a key are offered them. */
const DEFAULTS = ['read', 'write']

export const keyCalls = {
  /** `owner`: the name of its user, for who may see users. */
  'keys.list': reads('keys:read', List, async (input: KeyFilter, { auth, identity }) => {
    const { items, ...page } = await pageOf(input, (page) => auth.listApiKeys(page), asIs)
    const ids = [...new Set(items.map(({ userId }) => userId))]
    const seesUsers = identity.rights.includes('users:read') && ids.length > 0
    const users = seesUsers ? await auth.listUsers({ ids }) : []
    const nameOf = new Map(users.map(({ id, name }) => [id, name]))
    return {
      ...page,
      items: items.map((key) => ({ ...key, owner: nameOf.get(key.userId) ?? null })),
    }
  }),
  'keys.get': reads('keys:read', Id, ({ id }: Id, { auth }) =>
    auth.getApiKey({ id, include: 'usage' }),
  ),
  'keys.nearLimits': reads('keys:read', Anything, (input: NearLimitsQuery, { auth }) =>
    auth.nearLimits(input),
  ),
  /** The users that a key can be made for, by name. */
  'keys.owners': reads('keys:write', List, (input: UserFilter, { auth }) =>
    pageOf(
      input,
      (page) => auth.listUsers(page),
      ({ id, name }) => ({ id, name }),
    ),
  ),
  'keys.create': changes('keys:write', Anything, (input: NewApiKey, { auth }) =>
    auth.createApiKey(input),
  ),
  'keys.update': changes('keys:write', Anything, (input: KeyUpdate, { auth }) =>
    auth.updateApiKey(input),
  ),
  'keys.rotate': changes('keys:write', Anything, (input: KeyRotation, { auth }) =>
    auth.rotateApiKey(input),
  ),
  'keys.revoke': changes('keys:write', Id, async ({ id }: Id, { auth }) => {
    await auth.revokeApiKey(id)
    return {}
  }),
  'keys.usage': reads('keys:read', Anything, (input: UsageQuery, { auth }) => auth.getUsage(input)),
  /** The scopes, roles and namespaces that a key can have, and which of them this session is offered. */
  'keys.scopes': reads('keys:read', Nothing, async (_: Nothing, { auth, identity }) => {
    const names = await auth.listScopes()
    const given = await auth.listScopes({ grantable: true })
    const isOffered = (name: string) =>
      given.includes(name) &&
      (identity.keyId !== null ||
        isAdmin(identity) ||
        !DEFAULTS.includes(name) ||
        identity.scopes.includes(name))
    return {
      items: [...new Set([...names, ...given])].map((name) => ({
        name,
        grantable: isOffered(name),
      })),
    }
  }),
}
