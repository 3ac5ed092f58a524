import type { FastifyInstance } from 'fastify'

/** One way to guard a route. */
export interface GuardContender {
  /** Registers it on an application whose one route is defined afterwards. */
  register(app: FastifyInstance, settings: GuardSettings): Promise<void>
  /** Ends what it opened beside the application. */
  close?(): Promise<void>
}

export interface GuardSettings {
  database: string
  /** The texts of the keys that are valid, for those that keep them in memory. */
  keys: string[]
}
