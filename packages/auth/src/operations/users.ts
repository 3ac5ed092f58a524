import {
  changesOf,
  isUuid,
  narrowedReach,
  tenantOfNew,
  uuidv7,
  type AuditRecord,
} from '@svc/core/internal'
import { revokeKeysOfUser } from '../tables/api-keys.ts'
import { EmailTaken, UserNotFound } from '../errors.ts'
import type { NewUser, User, UserFilter } from '../schemas.ts'
import { deleteUser, findUser, insertUser, listUsers } from '../tables/users.ts'
import { revocationOf } from './key-records.ts'
import { performedBy, reachOfCall, type OperationCall, type OperationContext } from './context.ts'

const DEFAULT_ROLE = 'user'

export function createUserOperations(context: OperationContext) {
  const { readDb, log, within, changeKeys, record } = context
  return {
    async createUser(input: NewUser, call: OperationCall = {}): Promise<User> {
      const { email, name, role = DEFAULT_ROLE } = input
      const tenant = tenantOfNew(reachOfCall(call), input.tenant)
      const user = await within(call, async (tx) => {
        const made = await insertUser(tx, { id: uuidv7(), email, name, role, tenant })
        if (!made) throw new EmailTaken()
        await record(tx, call, recordOf('user.create', made, {}, factsOf(made)))
        return made
      })
      log.info({ userId: user.id, ...performedBy(call) }, 'user created')
      return user
    },

    async listUsers({ tenant, ...page }: UserFilter = {}, call: OperationCall = {}) {
      const reach = narrowedReach(reachOfCall(call), tenant)
      return reach === undefined ? [] : listUsers(readDb, reach, page)
    },

    async getUser(id: string, call: OperationCall = {}): Promise<User> {
      const user = isUuid(id) ? await findUser(readDb, id, reachOfCall(call)) : undefined
      if (!user) throw new UserNotFound()
      return user
    },

    async deleteUser(id: string, call: OperationCall = {}): Promise<void> {
      if (!isUuid(id)) throw new UserNotFound()
      const revoked = await changeKeys(call, async (tx) => {
        // The user first: this waits for keys that are being created, and revokes them with the rest.
        const user = await deleteUser(tx, id, reachOfCall(call))
        if (!user) throw new UserNotFound()
        const keys = await revokeKeysOfUser(tx, id)
        await record(
          tx,
          call,
          recordOf('user.delete', user, factsOf(user), {}),
          ...keys.map(({ key }) => revocationOf(key)),
        )
        return { hashes: keys.map(({ hash }) => hash), result: keys.length }
      })
      log.info({ userId: id, keysRevoked: revoked, ...performedBy(call) }, 'user deleted')
    },
  }
}

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
