import { isUuid, uuidv7 } from '@svc/core/internal'
import { revokeKeysOfUser } from '../tables/api-keys.ts'
import { EmailTaken, UserNotFound } from '../errors.ts'
import type { NewUser, Page, User } from '../schemas.ts'
import { deleteUser, findUser, insertUser, listUsers } from '../tables/users.ts'
import { performedBy, type OperationCall, type OperationContext } from './context.ts'

const DEFAULT_ROLE = 'user'

export function createUserOperations({ db: pool, log, revokeKeys }: OperationContext) {
  return {
    async createUser(input: NewUser, call: OperationCall = {}): Promise<User> {
      const { email, name, role = DEFAULT_ROLE } = input
      const user = await insertUser(call.db ?? pool, { id: uuidv7(), email, name, role })
      if (!user) throw new EmailTaken()
      log.info({ userId: user.id, ...performedBy(call) }, 'user created')
      return user
    },

    listUsers: (page?: Page): Promise<User[]> => listUsers(pool, page),

    async getUser(id: string): Promise<User> {
      const user = isUuid(id) ? await findUser(pool, id) : undefined
      if (!user) throw new UserNotFound()
      return user
    },

    async deleteUser(id: string, call: OperationCall = {}): Promise<void> {
      if (!isUuid(id)) throw new UserNotFound()
      const revoked = await revokeKeys(call.db, async (tx) => {
        // The user first: this waits for keys that are being created, and revokes them with the rest.
        if (!(await deleteUser(tx, id))) throw new UserNotFound()
        return revokeKeysOfUser(tx, id)
      })
      const details = { userId: id, keysRevoked: revoked.length, ...performedBy(call) }
      log.info(details, 'user deleted')
    },
  }
}
