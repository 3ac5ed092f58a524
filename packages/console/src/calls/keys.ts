import { isAdmin } from '../access/identity.ts'
import { Anything, asIs, Id, List, Nothing, pageOf, type CallsOf } from './call.ts'

/** Every caller may give them. The option `scopes` says whether sessions without a key are offered them. */
const DEFAULTS = ['read', 'write']

export const keyCalls: CallsOf<'keys'> = {
  'keys.list': {
    right: 'keys:read',
    changes: false,
    needs: 'auth',
    input: List,
    run: (input, { auth }) => pageOf(input, (page) => auth.listApiKeys(page), asIs),
  },
  'keys.get': {
    right: 'keys:read',
    changes: false,
    needs: 'auth',
    input: Id,
    run: ({ id }, { auth }) => auth.getApiKey(id),
  },
  'keys.owners': {
    right: 'keys:write',
    changes: false,
    needs: 'auth',
    input: List,
    run: (input, { auth }) =>
      pageOf(
        input,
        (page) => auth.listUsers(page),
        ({ id, name }) => ({ id, name }),
      ),
  },
  'keys.create': {
    right: 'keys:write',
    changes: true,
    needs: 'auth',
    input: Anything,
    run: (input, { auth }) => auth.createApiKey(input),
  },
  'keys.update': {
    right: 'keys:write',
    changes: true,
    needs: 'auth',
    input: Anything,
    run: (input, { auth }) => auth.updateApiKey(input),
  },
  'keys.rotate': {
    right: 'keys:write',
    changes: true,
    needs: 'auth',
    input: Anything,
    run: (input, { auth }) => auth.rotateApiKey(input),
  },
  'keys.revoke': {
    right: 'keys:write',
    changes: true,
    needs: 'auth',
    input: Id,
    async run({ id }, { auth }) {
      await auth.revokeApiKey(id)
      return {}
    },
  },
  'keys.usage': {
    right: 'keys:read',
    changes: false,
    needs: 'auth',
    input: Anything,
    run: (input, { auth }) => auth.getUsage(input),
  },
  'keys.scopes': {
    right: 'keys:read',
    changes: false,
    needs: 'auth',
    input: Nothing,
    async run(_, { auth, identity }) {
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
    },
  },
}
