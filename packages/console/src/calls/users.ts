import type { NewUser, UserFilter } from '@svc/auth'
import { Anything, asIs, callsOf, Id, List, pageOf } from './call.ts'

const { reads, changes } = callsOf('auth')

export const userCalls = {
  'users.list': reads('users:read', List, (input: UserFilter, { auth }) =>
    pageOf(input, (page) => auth.listUsers(page), asIs),
  ),
  'users.get': reads('users:read', Id, ({ id }: Id, { auth }) => auth.getUser(id)),
  'users.create': changes('users:write', Anything, (input: NewUser, { auth }) =>
    auth.createUser(input),
  ),
  'users.delete': changes('users:write', Id, async ({ id }: Id, { auth }) => {
    await auth.deleteUser(id)
    return {}
  }),
}
