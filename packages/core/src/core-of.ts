/** The inner side of core, which a host's instance carries beside `fastify.svc`. */
import type { FastifyInstance } from 'fastify'
import type { Core } from './core-interface.ts'

/**
 * The symbol is in the registry of symbols, so that two copies of this package find each other's
 * core.
 */
export const INNER = Symbol.for('@svc/core.inner')

export const coreOf = (app: FastifyInstance): Core | undefined =>
  (app as unknown as Record<symbol, Core | undefined>)[INNER]
