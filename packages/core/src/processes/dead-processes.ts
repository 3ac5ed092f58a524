/** Finds processes that died: their row has the lock as held, and no session holds it. */
import type { Notifications } from '../postgres/notifications.ts'
import type { Db } from '../postgres/transaction.ts'
import { findLockedProcesses } from './processes-table.ts'

/** A process whose connection broke has this long to make another one, and take its lock again. */
const GRACE_MS = 2400
/**
 * The longest that others take to reconnect after this process did: where its own connection broke, those of others
 * may have broken as well, as in a failover. A promoted standby keeps the time of its start, so that
 * {@link findLockedProcesses} does not show it.
 */
const LONGEST_RECONNECT_MS = 8000
const TIMEOUT_MS = 5000

export class DeadProcesses {
  #ownId: string
  #db: Db
  #nowMs: () => number
  /** When a process was first seen without its lock. */
  #seenAt = new Map<string, number>()
  #reconnectedAt = -Infinity

  constructor(
    ownId: string,
    notifications: Pick<Notifications, 'query' | 'onConnect' | 'session'>,
    /** Monotonic. */
    nowMs: () => number = () => performance.now(),
  ) {
    this.#ownId = ownId
    this.#db = {
      query: (text, values = []) => notifications.query(text, values, { timeoutMs: TIMEOUT_MS }),
    }
    this.#nowMs = nowMs
    let isFirst = notifications.session === undefined
    notifications.onConnect(() => {
      if (!isFirst) this.#reconnectedAt = nowMs()
      isFirst = false
      this.#seenAt.clear()
    })
  }

  /** Checks once. Returns the ids of the processes that have been without their lock for a while. */
  async find(): Promise<string[]> {
    const others = await findLockedProcesses(this.#db, this.#ownId)
    const ids = others.filter(({ isUnlocked }) => isUnlocked).map(({ id }) => id)
    const now = this.#nowMs()
    const from = Math.max(now, this.#reconnectedAt + LONGEST_RECONNECT_MS - GRACE_MS)
    this.#seenAt = new Map(ids.map((id) => [id, this.#seenAt.get(id) ?? from]))
    return ids.filter((id) => now - (this.#seenAt.get(id) ?? now) >= GRACE_MS)
  }

  /** When one that seemed to have died will have been without its lock for long enough. */
  get findAgainInMs(): number | undefined {
    const now = this.#nowMs()
    const left = [...this.#seenAt.values()].map((seenAt) => seenAt + GRACE_MS - now)
    const waiting = left.filter((ms) => ms > 0)
    return waiting.length === 0 ? undefined : Math.min(...waiting)
  }
}
