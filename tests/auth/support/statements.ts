/** Which statements a host sends to Postgres on its pool, those of its own timers left out. */
import type { FastifyInstance } from 'fastify'
import { until } from '../../support/until.ts'
import type { Host } from './host.ts'

export interface Statements {
  texts: string[]
  /** The statements that Postgres has answered. */
  answered: string[]
  /** While it is set each statement fails. */
  broken?: Error | undefined
  /** While it is set, each statement that matches waits for it. */
  held?: { matching: RegExp; until: Promise<void> } | undefined
}

/** The polls for changes, and what is written of uses. They go to the pool where their own connection is slow. */
const OF_TIMERS =
  /__svc\.auth\.epoch|pg_current_snapshot|set last_used_at|insert into svc\."__svc\.auth\.usage_writers"/

export function watchStatements(app: FastifyInstance): Statements {
  const { database } = app.svc
  const seen: Statements = { texts: [], answered: [] }
  const watched =
    (query: Query): Query =>
    async (...args) => {
      const text = typeof args[0] === 'string' ? args[0] : args[0].text
      if (seen.broken) throw seen.broken
      if (!OF_TIMERS.test(text)) seen.texts.push(text)
      const answer = await query(...args)
      seen.answered.push(text)
      // Held after Postgres has answered: what it read may be old when it arrives.
      if (seen.held?.matching.test(text)) await seen.held.until
      return answer
    }
  const connect = database.connect.bind(database) as (...given: unknown[]) => Promise<object>
  Object.assign(database, {
    query: watched(database.query.bind(database) as Query),
    async connect(...given: unknown[]) {
      // With a callback it is the pool's own `query`, which is watched above.
      if (given.length > 0) return connect(...given)
      const client = (await connect()) as Record<string | symbol, unknown>
      const query = watched((client['query'] as Query).bind(client))
      return new Proxy(client, {
        get(_target, name) {
          const value = client[name]
          if (name === 'query') return query
          return typeof value === 'function' ? value.bind(client) : value
        },
      })
    },
  })
  return seen
}

/** Waits until keys are decided without a query. */
export async function areDecidedFromMemory({ app, ask }: Host, ...keys: string[]): Promise<void> {
  const { texts } = watchStatements(app)
  const lookups = () => texts.filter((text) => text.includes('where key_hash')).length
  await until(async () => {
    for (const key of keys) await ask('GET', '/me', { key })
    const before = lookups()
    for (const key of keys) await ask('GET', '/me', { key })
    return lookups() === before
  })
}

type Query = (...args: [string | { text: string }, ...unknown[]]) => Promise<unknown>
