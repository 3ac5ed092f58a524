/**
 * How long a request waits for Postgres. A statement may take its time while Postgres answers
 * others; where it answers nothing, the request is given up.
 */
import { Unavailable } from '../errors.ts'
import { repeatedOnDeadlock } from '../postgres/contention.ts'
import type { NotificationConnection } from '../postgres/notifications.ts'
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import { within } from '../time.ts'
import { SharedCall } from './shared-call.ts'

interface Waits {
  /** How long a request has waited when Postgres is asked whether it is there, and then again. */
  pingAfterMs: number
  /** How long Postgres then has to answer. */
  answerMs: number
}

/** Together the two seconds that the guard of svcAuth and `svc.health` wait. */
const WAITS: Waits = { pingAfterMs: 1000, answerMs: 1000 }

export function createLiveness(
  database: Pick<Database, 'db'>,
  notifications: Pick<NotificationConnection, 'query'>,
): Liveness {
  const db = database.db.within(WAITS.answerMs)
  const first = { timeoutMs: WAITS.answerMs / 2, isUrgent: true }
  // The application may use up the pool, and the connection that listens may be lost.
  return new Liveness(() =>
    notifications.query('select 1', [], first).catch(() => db.query('select 1')),
  )
}

export class Liveness {
  #ping: SharedCall<unknown>
  #waits: Waits

  /** `ping`: a small query. Requests of the same moment share its answer. */
  constructor(ping: () => Promise<unknown>, waits: Waits = WAITS) {
    this.#ping = new SharedCall(ping, waits.answerMs)
    this.#waits = waits
  }

  /** `db` whose statements reject with Unavailable where Postgres answers nothing. */
  bounded(db: Db): Db {
    return { query: (text, values) => this.#whileAnswering(() => db.query(text, values)) }
  }

  /**
   * Runs `run` in a transaction, which `transact` begins and commits, and again in another one where
   * that was ended in a deadlock. Where Postgres answers again only after the caller was told that
   * nothing was done, the transaction is rolled back.
   *
   * @throws Unavailable where Postgres answers nothing
   */
  transaction<T>(
    transact: (run: (db: Db) => Promise<T>) => Promise<T>,
    run: (db: Db) => Promise<T>,
  ): Promise<T> {
    return this.#whileAnswering((givenUp) =>
      repeatedOnDeadlock(() =>
        transact(async (db) => {
          const result = await run(db)
          givenUp.throwIfAborted()
          return result
        }),
      ),
    )
  }

  async #whileAnswering<T>(work: (givenUp: AbortSignal) => Promise<T>): Promise<T> {
    const givenUp = new AbortController()
    const silence = Promise.withResolvers<never>()
    let isOver = false
    let timer: NodeJS.Timeout | undefined
    const giveUp = (cause: unknown) => {
      const reason = new Unavailable({ cause })
      givenUp.abort(reason)
      silence.reject(reason)
    }
    const watch = () => {
      if (isOver) return
      timer = setTimeout(() => void this.#answers().then(watch, giveUp), this.#waits.pingAfterMs)
    }
    watch()
    try {
      return await Promise.race([work(givenUp.signal), silence.promise])
    } finally {
      isOver = true
      clearTimeout(timer)
    }
  }

  async #answers(): Promise<void> {
    const { answerMs } = this.#waits
    await within(answerMs, this.#ping.answer(), () => {
      throw new Error(`timeout expired: no answer within ${answerMs} ms`)
    })
  }
}
