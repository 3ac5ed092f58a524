import { Anything, asIs, Id, List, Nothing, pageOf, type CallsOf } from './call.ts'

/** The scopes that every session with the right to create keys may give. */
const ALWAYS_GRANTABLE = ['read', 'write']

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
      const held = new Set([...identity.scopes, ...ALWAYS_GRANTABLE])
      const names = await auth.listScopes()
      return {
        items: names.map((name) => ({ name, grantable: held.has('admin') || held.has(name) })),
      }
    },
  },
}
