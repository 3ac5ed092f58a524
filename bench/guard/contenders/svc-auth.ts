import requestContext from '@fastify/request-context'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import type { GuardContender } from './contender.ts'

export const guardedBySvcAuth: GuardContender = {
  async register(app, { database }) {
    await app.register(svcCore, { database })
    await app.register(svcAuth, {})
  },
}

export const guardedWithRequestContext: GuardContender = {
  async register(app, settings) {
    await app.register(requestContext)
    await guardedBySvcAuth.register(app, settings)
  },
}

export const guardedWithRateLimit: GuardContender = {
  async register(app, { database }) {
    await app.register(svcCore, { database })
    await app.register(svcAuth, {
      rateLimit: { maxAttempts: 10, windowMs: 60_000, blockDurationMs: 60_000 },
    })
  },
}
