/**
 * Polls `pg_xact_status` after a publish with `db`, from 5 ms on, doubling, up to once a second for a
 * minute, to wake the workers right after the caller's commit. A later commit is found by the workers'
 * own polls.
 */
import type { Db } from '../postgres/transaction.ts'
import { isNothing, together, type WaitingJobs } from './waiting-jobs.ts'

interface Expected {
  waiting: WaitingJobs
  giveUpAt: number
}

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 1000
const GIVE_UP_MS = 60_000
/** Beyond this many the polls of the workers are quick enough, and memory stays bounded. */
const MOST = 1000

export class CommitPoller {
  #db: Db
  #committed: (waiting: WaitingJobs) => void
  /** The expected commits by the id of the transaction. */
  #expected = new Map<string, Expected>()
  #pauseMs = FIRST_PAUSE_MS
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(db: Db, committed: (waiting: WaitingJobs) => void) {
    this.#db = db
    this.#committed = committed
  }

  expect(transactionId: string, waiting: WaitingJobs): void {
    if (isNothing(waiting) || this.#closed) return
    const known = this.#expected.get(transactionId)
    if (!known && this.#expected.size >= MOST) return
    this.#expected.set(transactionId, {
      waiting: known ? together([known.waiting, waiting]) : waiting,
      giveUpAt: performance.now() + GIVE_UP_MS,
    })
    this.#pauseMs = FIRST_PAUSE_MS
    this.#pollLater()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#expected.clear()
  }

  #pollLater(): void {
    if (this.#timer) return
    this.#timer = setTimeout(() => void this.#poll(), this.#pauseMs)
    this.#timer.unref()
  }

  async #poll(): Promise<void> {
    const ended = await findEnded(this.#db, [...this.#expected.keys()]).catch(() => [])
    this.#timer = undefined
    const found: WaitingJobs[] = []
    for (const { transactionId, committed } of ended) {
      const expected = this.#expected.get(transactionId)
      if (committed && expected) found.push(expected.waiting)
      this.#expected.delete(transactionId)
    }
    if (found.length > 0) this.#committed(together(found))
    for (const [transactionId, { giveUpAt }] of this.#expected) {
      if (performance.now() > giveUpAt) this.#expected.delete(transactionId)
    }
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2)
    if (this.#expected.size > 0 && !this.#closed) this.#pollLater()
  }
}

async function findEnded(
  db: Db,
  transactionIds: string[],
): Promise<{ transactionId: string; committed: boolean }[]> {
  const { rows } = await db.query(
    `select id as "transactionId", status = 'committed' as committed
       from (select id, pg_xact_status(id::xid8) as status from unnest($1::text[]) as id) as looked
      where status <> 'in progress'`,
    [transactionIds],
  )
  return rows
}
