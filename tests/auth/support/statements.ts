/** Which statements a host sends to Postgres on its pool, the poll of the lease left out. */
import type { FastifyInstance } from 'fastify'

export interface Statements {
  texts: string[]
  /** While it is set each statement fails. */
  broken?: Error | undefined
  /** While it is set, each statement that matches waits for it. */
  held?: { matching: RegExp; until: Promise<void> } | undefined
}

export function watchStatements(app: FastifyInstance): Statements {
  const { database } = app.svc
  const query = database.query.bind(database) as (...args: unknown[]) => Promise<unknown>
  const seen: Statements = { texts: [] }
  Object.assign(database, {
    async query(...args: [string | { text: string }]) {
      const text = typeof args[0] === 'string' ? args[0] : args[0].text
      if (seen.broken) throw seen.broken
      if (!text.includes('__svc.auth.epoch')) seen.texts.push(text)
      const answer = await query(...args)
      // Held after Postgres has answered: what it read may be old when it arrives.
      if (seen.held?.matching.test(text)) await seen.held.until
      return answer
    },
  })
  return seen
}
