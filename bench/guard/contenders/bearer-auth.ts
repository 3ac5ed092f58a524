import bearerAuth from '@fastify/bearer-auth'
import type { GuardContender } from './contender.ts'

export const guardedByBearerAuth: GuardContender = {
  async register(app, { keys }) {
    await app.register(bearerAuth, { keys: new Set(keys) })
  },
}
