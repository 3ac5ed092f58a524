/** Finds, page by page, the dead letters of attempts whose process died, and has their rows written. */
import type { Core, Db, DeadLetter } from '@svc/core/internal'
import { lockLog } from '../../tables/delivery-log-days.ts'
import { tryLockLostAttempts } from '../../tables/lost-attempts.ts'
import { QUEUE } from '../constants.ts'
import { noticedSince, recordLostLetters } from './crashed-attempts.ts'
import { type DeliveryData } from './delivery-job.ts'

/** Each page is a transaction of its own. */
const PAGE = 1000
/** A run ends after so many: a host that closes waits for it. */
const PAGES = 5
const AGAIN_MS = 1000
/** A letter shows when its transaction is committed, and has an id of when that began. */
const OVERLAP_MS = 10 * 60_000

interface Walk {
  since: Date
  /** The time of Postgres when it began. */
  beganAt: Date
  after: string | null
  /** Whether letters were passed over, of which jobs are being made. */
  isIncomplete: boolean
}

export class LostLetters {
  #core: Core
  #logDays: number
  #walk: Walk | undefined
  /** All before this moment has been read by this process. */
  #readUntil: Date | undefined

  constructor(core: Core, logDays: number) {
    this.#core = core
    this.#logDays = logDays
  }

  /** Resolves with the milliseconds until the next run where there is more to read. */
  async record(): Promise<number | void> {
    for (let page = 0; page < PAGES; page++) {
      const walk = await this.#core.transaction((db) => this.#recordPage(db))
      this.#walk = walk.after === null ? undefined : walk
      if (this.#walk) continue
      if (!walk.isIncomplete) this.#readUntil = new Date(walk.beganAt.getTime() - OVERLAP_MS)
      return
    }
    return AGAIN_MS
  }

  /** Returns where the walk stands then: at its end `after` is `null`. */
  async #recordPage(db: Db): Promise<Walk> {
    await lockLog(db)
    const walk = this.#walk ?? (await this.#begin(db))
    const { since, after } = walk
    const page = { since, after, limit: PAGE }
    const letters = await this.#core.queues.lostLetters<DeliveryData>(db, QUEUE, page)
    const locked = await lockedOf(db, letters)
    if (locked.length > 0) await recordLostLetters(this.#core, db, this.#logDays, locked)
    return {
      ...walk,
      after: letters.length < PAGE ? null : (letters.at(-1)?.id ?? null),
      isIncomplete: walk.isIncomplete || locked.length < letters.length,
    }
  }

  async #begin(db: Db): Promise<Walk> {
    const { rows } = await db.query('select extract(epoch from now())::float8 * 1000 as now')
    const beganAt = new Date((rows[0] as { now: number }).now)
    const earliest = await noticedSince(db)
    const readUntil = this.#readUntil ?? earliest
    const since = readUntil > earliest ? readUntil : earliest
    return { since, beganAt, after: null, isIncomplete: false }
  }
}

/** Those of webhooks whose letters no other transaction makes jobs of: that one writes their rows. */
async function lockedOf(
  db: Db,
  letters: DeadLetter<DeliveryData>[],
): Promise<DeadLetter<DeliveryData>[]> {
  const ids = [...new Set(letters.map(({ data }) => data.recipient))]
  const locked = new Set(await tryLockLostAttempts(db, ids))
  return letters.filter(({ data }) => locked.has(data.recipient))
}
