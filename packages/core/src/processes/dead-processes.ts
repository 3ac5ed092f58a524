/** Finds processes that died: their row has the lock as held, and no session holds it. */
import type { Notifications } from '../postgres/notifications.ts'
import type { Db } from '../postgres/transaction.ts'
import { LOCK_TAKEN_CHANNEL } from './process-lock.ts'
import { findLockedProcesses } from './processes-table.ts'

/** A process whose connection broke has this long to make another one, and take its lock again. */
const GRACE_MS = 2400
/**
 * The longest that others take to reconnect after this process did: where its own connection broke, those of others
 * may have broken as well, as in a failover. A promoted standby keeps the time of its start, so that
 * {@link findLockedProcesses} does not show it.
 */
const LONGEST_RECONNECT_MS = 6000
/**
 * How often a process looks for others while it knows of none. A process that takes its lock notifies
 * the others; a notification can be lost.
 */
const ALONE_MS = 8000
const TIMEOUT_MS = 5000

export class DeadProcesses {
  #ownId: string
  #notifications: Pick<Notifications, 'query' | 'listen' | 'onConnect'>
  #nowMs: () => number
  /** When a process was first seen without its lock. */
  #seenAt = new Map<string, number>()
  /** When it was last seen that no other process has its lock as held. */
  #aloneAt = -Infinity
  #reconnectedAt = -Infinity
  /** How often another process may have taken its lock. */
  #changes = 0
  #isListening = false

  constructor(
    ownId: string,
    notifications: Pick<Notifications, 'query' | 'listen' | 'onConnect'>,
    /** Monotonic. */
    nowMs: () => number = () => performance.now(),
  ) {
    this.#ownId = ownId
    this.#notifications = notifications
    this.#nowMs = nowMs
  }

  /** From the first check on: a process that only publishes checks nothing, and needs no connection. */
  #listen(): void {
    if (this.#isListening) return
    this.#isListening = true
    const mayHaveCome = () => {
      this.#changes++
      this.#aloneAt = -Infinity
    }
    this.#notifications.listen(LOCK_TAKEN_CHANNEL, (_id, fromHere) => fromHere || mayHaveCome())
    // Notifications are lost while the connection is not there.
    this.#notifications.onConnect(() => {
      mayHaveCome()
      this.#reconnectedAt = this.#nowMs()
      this.#seenAt.clear()
    })
  }

  /**
   * Checks once. Returns the ids of the processes that have been without their lock for a while. It
   * sends no statement for some seconds after it has found no other process.
   */
  async find(): Promise<string[]> {
    if (this.#nowMs() - this.#aloneAt < ALONE_MS) return []
    this.#listen()
    const changes = this.#changes
    const db: Db = {
      query: (text, values = []) =>
        this.#notifications.query(text, values, { timeoutMs: TIMEOUT_MS }),
    }
    const others = await findLockedProcesses(db, this.#ownId)
    const ids = others.filter(({ isUnlocked }) => isUnlocked).map(({ id }) => id)
    const now = this.#nowMs()
    // A process that notified meanwhile may have written its row after this statement read the table.
    if (others.length === 0 && changes === this.#changes) this.#aloneAt = now
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
