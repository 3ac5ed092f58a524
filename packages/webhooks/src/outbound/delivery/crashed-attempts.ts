/** The attempts of processes that died before they wrote the rows of the log. */
import type { Core, Db, DeadLetter } from '@svc/core/internal'
import { insertLogRows, type LogRow } from '../../tables/delivery-log.ts'
import { findLastLoggedAttempts, lockLostAttempts } from '../../tables/lost-attempts.ts'
import { QUEUE } from '../constants.ts'
import { lastErrorOf, publishDead, type DeadDelivery } from '../lifecycle-events.ts'
import { findDeletedWebhooks } from '../../tables/webhooks.ts'
import { crashedAttempt, skippedAttempt } from './attempt-record.ts'
import {
  attemptCountOf,
  attemptNumberOf,
  type DeliveryData,
  type DeliveryJob,
} from './delivery-job.ts'
import { rowOf } from './log-entry.ts'

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
export function crashedAttemptsBefore(
  db: Db,
  logDays: number,
  jobs: DeliveryJob[],
): Promise<LogRow[]> {
  const noticedAt = new Date()
  const attempts = jobs
    .filter(({ lost }) => lost)
    .map((job) => {
      const last = attemptNumberOf(job) - 1
      return { delivery: job.data, first: firstOf(job.data), last, noticedAt, isDead: false }
    })
  return missingRows(db, logDays, attempts)
}

/**
 * Writes the rows of deliveries whose last attempt ended with its process, and publishes that they are
 * dead. Only one transaction may do it for a letter at a time. Letters of deleted webhooks are dropped.
 */
export async function recordLostLetters(
  core: Core,
  db: Db,
  logDays: number,
  letters: DeadLetter<DeliveryData>[],
): Promise<void> {
  const since = await noticedSince(db)
  const attempts = letters.filter(({ deadAt }) => deadAt >= since).map(attemptsOfDead)
  const ids = new Set(letters.map(({ data }) => data.recipient))
  const deleted = new Set(await findDeletedWebhooks(db, [...ids]))
  const isKept = ({ delivery }: Attempts) => !deleted.has(delivery.recipient)
  const rows = await missingRows(
    db,
    logDays,
    attempts.map((one) => ({ ...one, isDead: isKept(one) })),
  )
  await insertLogRows(db, rows)
  const dead = rows.filter(({ status, url }) => status === 'dead' && url === undefined)
  await publishDead(core, db, dead.map(deadDelivery))
  const dropped = attempts.filter((one) => !isKept(one))
  if (dropped.length === 0) return
  await insertLogRows(
    db,
    dropped.map(({ delivery, last }) => rowOf(delivery, skippedAttempt(last + 1), 'skipped', null)),
  )
  const oldest = new Date(Math.min(...dropped.map(({ noticedAt }) => noticedAt.getTime())))
  await core.queues.dropDeadLetters(db, QUEUE, [...deleted], oldest)
}

/** The same for letters of which jobs are made in the transaction: see `WorkerRecovery`. */
export async function recordLostBeforeRedrive(
  core: Core,
  db: Db,
  logDays: number,
  letters: DeadLetter<DeliveryData>[],
): Promise<void> {
  await lockLostAttempts(db, [...new Set(letters.map(({ data }) => data.recipient))])
  await recordLostLetters(core, db, logDays, letters)
}

/** The earliest death that is noticed, by the clock of Postgres. */
export async function noticedSince(db: Db): Promise<Date> {
  const { rows } = await db.query(
    `select extract(epoch from now() - ${NOTICED_WITHIN})::float8 * 1000 as since`,
  )
  return new Date((rows[0] as { since: number }).since)
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
async function missingRows(db: Db, logDays: number, deliveries: Attempts[]): Promise<LogRow[]> {
  if (deliveries.length === 0) return []
  const logged = await findLastLoggedAttempts(
    db,
    logDays,
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
