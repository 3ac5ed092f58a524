/** The attempts of processes that died before they wrote the rows of the log. */
import type { Core, Db, DeadLetter } from '@svc/core/internal'
import {
  findLastLoggedAttempts,
  insertLogRows,
  lockLog,
  type LogRow,
} from '../../tables/delivery-log.ts'
import { QUEUE } from '../constants.ts'
import { lastErrorOf, publishDead, type DeadDelivery } from '../lifecycle-events.ts'
import { crashedAttempt } from './attempt-record.ts'
import {
  attemptCountOf,
  attemptNumberOf,
  type DeliveryData,
  type DeliveryJob,
} from './delivery-job.ts'
import { rowOf } from './log-entry.ts'

/** How many of the newest are read: far more than one killed process leaves at once. */
const LETTERS_READ = 1000

/**
 * How old a dead letter may be. The log is kept for a day at least: the row of an older one may have
 * been deleted with its day.
 */
const NOTICED_WITHIN = `interval '1 day'`

/** Some attempts of a delivery, the last of which may lack their rows. */
interface Attempts {
  delivery: DeliveryData
  first: number
  last: number
  noticedAt: Date
  /** Whether the last of them was the last of the delivery. */
  isDead: boolean
}

/** The missing rows of attempts before those that these jobs have just made. */
export function crashedAttemptsBefore(db: Db, jobs: DeliveryJob[]): Promise<LogRow[]> {
  const noticedAt = new Date()
  const attempts = jobs
    .filter(({ lost }) => lost)
    .map((job) => {
      const last = attemptNumberOf(job) - 1
      return { delivery: job.data, first: firstOf(job.data), last, noticedAt, isDead: false }
    })
  return missingRows(db, attempts)
}

/**
 * Writes the rows of deliveries whose last attempt ended with its process: pg-boss made them dead
 * letters when their lease expired.
 */
export async function recordCrashedAttempts(core: Core): Promise<void> {
  await core.transaction(async (db) => {
    await lockLog(db)
    const { rows: times } = await db.query(
      `select extract(epoch from now() - ${NOTICED_WITHIN})::float8 * 1000 as since`,
    )
    const since = new Date((times as { since: number }[])[0]?.since ?? 0).toISOString()
    const newest = { lost: true, since, limit: LETTERS_READ }
    const letters = await core.queues.deadLetters<DeliveryData>(db, QUEUE, newest)
    const crashed = letters.map(attemptsOfDead)
    const rows = await missingRows(db, crashed)
    await insertLogRows(db, rows)
    const dead = rows.filter(({ status, url }) => status === 'dead' && url === undefined)
    await publishDead(core, db, dead.map(deadDelivery))
  })
}

const deadDelivery = (row: LogRow): DeadDelivery => {
  const { webhookId, deliveryId, event, eventId, attempt: attempts } = row
  return { webhookId, deliveryId, event, eventId, attempts, lastError: lastErrorOf(row) }
}

const attemptsOfDead = (letter: DeadLetter<DeliveryData>): Attempts => ({
  delivery: letter.data,
  first: firstOf(letter.data),
  last: attemptCountOf(letter),
  noticedAt: letter.deadAt,
  isDead: true,
})

const firstOf = ({ attemptsBefore = 0 }: DeliveryData): number => attemptsBefore + 1

/**
 * An attempt has no row where its process died: those after the last one that has. Rows of earlier
 * attempts may have been deleted with their day.
 */
async function missingRows(db: Db, deliveries: Attempts[]): Promise<LogRow[]> {
  if (deliveries.length === 0) return []
  const logged = await findLastLoggedAttempts(
    db,
    deliveries.map(({ delivery }) => delivery.deliveryId),
  )
  const lastOf = new Map(logged.map(({ deliveryId, attempt }) => [deliveryId, attempt]))
  return deliveries.flatMap(({ delivery, first, last, noticedAt, isDead }) => {
    const rows: LogRow[] = []
    const logged = lastOf.get(delivery.deliveryId) ?? 0
    for (let attempt = Math.max(first, logged + 1); attempt <= last; attempt++) {
      const record = crashedAttempt(attempt, noticedAt)
      const isLast = isDead && attempt === last
      rows.push(rowOf(delivery, record, isLast ? 'dead' : 'failed', isLast ? null : noticedAt))
    }
    return rows
  })
}
