import { isUuid, uuidv7 } from '@svc/core/internal'
import { revokeKeysOfUser } from '../tables/api-keys.ts'
import { EmailTaken, UserNotFound } from '../errors.ts'
import type { NewUser, User } from '../schemas.ts'
import { deleteUser, findUser, insertUser, listUsers, type Page } from '../tables/users.ts'
import type { Auth } from '../guard/keys/cached-key.ts'
import { actor, type Ground } from './context.ts'

const DEFAULT_ROLE = 'user'

export function userOperations({ db, log, revokeKeys }: Ground) {
  return {
    async createUser(wishes: NewUser, caller?: Auth | null): Promise<User> {
      const { email, name, role = DEFAULT_ROLE } = wishes
      const user = await insertUser(db, { id: uuidv7(), email, name, role })
      if (!user) throw new EmailTaken()
      log.info({ userId: user.id, by: actor(caller) }, 'user created')
      return user
    },

    listUsers: (page?: Page): Promise<User[]> => listUsers(db, page),

    async getUser(id: string): Promise<User> {
      const user = isUuid(id) ? await findUser(db, id) : undefined
      if (!user) throw new UserNotFound()
      return user
    },

    async deleteUser(id: string, caller?: Auth | null): Promise<void> {
      if (!isUuid(id)) throw new UserNotFound()
      const revoked = await revokeKeys(async (tx) => {
        // The user first: it waits for keys that are being made, which are then revoked with the rest.
        if (!(await deleteUser(tx, id))) throw new UserNotFound()
        return revokeKeysOfUser(tx, id)
      })
      const facts = { userId: id, keysRevoked: revoked.length, by: actor(caller) }
      log.info(facts, 'user deleted')
    },
  }
}
