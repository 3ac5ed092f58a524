import { Anything, asIs, Id, List, pageOf, type CallsOf } from './call.ts'

export const userCalls: CallsOf<'users'> = {
  'users.list': {
    right: 'users:read',
    changes: false,
    needs: 'auth',
    input: List,
    run: (input, { auth }) => pageOf(input, (page) => auth.listUsers(page), asIs),
  },
  'users.get': {
    right: 'users:read',
    changes: false,
    needs: 'auth',
    input: Id,
    run: ({ id }, { auth }) => auth.getUser(id),
  },
  'users.create': {
    right: 'users:write',
    changes: true,
    needs: 'auth',
    input: Anything,
    run: (input, { auth }) => auth.createUser(input),
  },
  'users.delete': {
    right: 'users:write',
    changes: true,
    needs: 'auth',
    input: Id,
    async run({ id }, { auth }) {
      await auth.deleteUser(id)
      return {}
    },
  },
}
