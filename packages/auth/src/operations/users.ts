import { Type } from '@sinclair/typebox'
import {
  changesOf,
  isUuid,
  narrowedReach,
  Nothing,
  tenantOfNew,
  uuidv7,
  type AuditRecord,
} from '@svc/core/internal'
import { revokeKeysOfUser } from '../tables/api-keys.ts'
import { EmailTaken, UserNotFound } from '../errors.ts'
import { Id, NewUser, User, userFilter, UserFilter } from '../schemas.ts'
import { deleteUser, findUser, insertUser, listUsers, lockUserToDelete } from '../tables/users.ts'
import { revocationOf } from './key-records.ts'
import { operation, performedBy, reachOfCall, type OperationContext } from './context.ts'

const DEFAULT_ROLE = 'user'

export const userOperations = ({ readDb, log, within, changeKeys, record }: OperationContext) => ({
  createUser: operation({
    input: NewUser,
    output: User,
    writes: true,
    routes: { 'POST /users': { status: 201, summary: 'Create a user' } },
    async run(by, { email, name, role = DEFAULT_ROLE, tenant: named }) {
      const tenant = tenantOfNew(reachOfCall(by), named)
      const user = await within(by, async (tx) => {
        const made = await insertUser(tx, { id: uuidv7(), email, name, role, tenant })
        if (!made) throw new EmailTaken()
        await record(tx, by, recordOf('user.create', made, {}, factsOf(made)))
        return made
      })
      log.info({ userId: user.id, ...performedBy(by) }, 'user created')
      return user
    },
  }),

  listUsers: operation({
    input: UserFilter,
    output: Type.Array(User),
    routes: {
      'GET /users': { takes: userFilter, limit: 1000, summary: 'List users, newest first' },
    },
    async run(by, { tenant, ids, ...page }) {
      const reach = narrowedReach(reachOfCall(by), tenant)
      const named = ids && { ids: ids.filter(isUuid) }
      return reach === undefined ? [] : listUsers(readDb, reach, { ...page, ...named })
    },
  }),

  getUser: operation({
    input: Id,
    output: User,
    async run(by, id) {
      const user = isUuid(id) ? await findUser(readDb, id, reachOfCall(by)) : undefined
      if (!user) throw new UserNotFound()
      return user
    },
  }),

  deleteUser: operation({
    input: Id,
    output: Nothing,
    writes: true,
    routes: {
      'DELETE /users/:id': { status: 204, summary: 'Delete a user and revoke all its keys' },
    },
    async run(by, id) {
      if (!isUuid(id)) throw new UserNotFound()
      const revoked = await changeKeys(by, async (tx) => {
        // The user first: this waits for keys that are being created, and revokes them with the rest.
        const user = await lockUserToDelete(tx, id, reachOfCall(by))
        if (!user) throw new UserNotFound()
        const keys = await revokeKeysOfUser(tx, id)
        await record(
          tx,
          by,
          recordOf('user.delete', user, factsOf(user), {}),
          ...keys.map(({ key }) => revocationOf(key)),
        )
        // Last: the audit names keys without a label by their user.
        await deleteUser(tx, id)
        return { hashes: keys.map(({ hash }) => hash), result: keys.length }
      })
      log.info({ userId: id, keysRevoked: revoked, ...performedBy(by) }, 'user deleted')
    },
  }),
})

const factsOf = ({ email, name, role, tenant }: User) => ({ email, name, role, tenant })

const recordOf = (
  action: string,
  { id, tenant }: User,
  before: object,
  after: object,
): AuditRecord => ({
  action,
  tenant,
  target: { kind: 'user', id },
  changes: changesOf({ ...before }, { ...after }),
})
