/** The attempts of processes that died: nobody was there to write their rows. */
import type { Core, Db, DeadLetter, Job } from '@svc/core/internal'
import {
  findLoggedAttempts,
  insertLogRows,
  takeLogTurn,
  type LogRow,
} from '../../tables/delivery-log.ts'
import { lostAttempt } from './attempt.ts'
import { attemptOf, attemptsOf, deliveryJobOf, type DeliveryJob } from './delivery-job.ts'
import { rowOf } from './log-entry.ts'
import { QUEUE } from '../constants.ts'

/** As many of the newest dead letters are looked at; far more than die by a killed process at once. */
const LOOKED_AT = 1000

/** Some attempts of a delivery, any of which may have been lost. */
interface Attempts {
  delivery: DeliveryJob
  first: number
  last: number
  /** When it was noticed. */
  at: Date
  /** Whether the last of them was its delivery's last. */
  isDead: boolean
}

/** The rows that are missing before the attempts that these jobs have just made. */
export function lostBefore(db: Db, jobs: Job[]): Promise<LogRow[]> {
  const at = new Date()
  return missingRows(
    db,
    jobs
      .filter(({ lost }) => lost)
      .map((job) => {
        const delivery = deliveryJobOf(job)
        const first = (delivery.attemptsBefore ?? 0) + 1
        return { delivery, first, last: attemptOf(job) - 1, at, isDead: false }
      }),
  )
}

/**
 * Writes the rows of deliveries whose last attempt ended with its process, and which went to the
 * dead letters when its time was up.
 */
export async function recordLost(core: Core): Promise<void> {
  await core.transaction(async (db) => {
    await takeLogTurn(db)
    const letters = await core.queues.deadLetters(db, QUEUE, { limit: LOOKED_AT })
    const lost = letters.filter(({ output }) => output === undefined).map(attemptsOfDead)
    await insertLogRows(db, await missingRows(db, lost))
  })
}

function attemptsOfDead(letter: DeadLetter): Attempts {
  const delivery = deliveryJobOf(letter)
  const first = (delivery.attemptsBefore ?? 0) + 1
  return { delivery, first, last: attemptsOf(letter), at: letter.deadAt, isDead: true }
}

/** Every attempt that came to an end stands in the log: whichever does not was lost. */
async function missingRows(db: Db, deliveries: Attempts[]): Promise<LogRow[]> {
  if (deliveries.length === 0) return []
  const logged = await findLoggedAttempts(
    db,
    deliveries.map(({ delivery }) => delivery.deliveryId),
  )
  const known = new Set(logged.map(({ deliveryId, attempt }) => `${deliveryId} ${attempt}`))
  return deliveries.flatMap(({ delivery, first, last, at, isDead }) => {
    const rows: LogRow[] = []
    for (let attempt = first; attempt <= last; attempt++) {
      if (known.has(`${delivery.deliveryId} ${attempt}`)) continue
      const lost = lostAttempt(attempt, at)
      const isLast = isDead && attempt === last
      rows.push(rowOf(delivery, lost, isLast ? 'dead' : 'failed', isLast ? null : at))
    }
    return rows
  })
}
