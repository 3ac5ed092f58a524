/**
 * Deliveries whose last attempt ends when their webhook is deleted already: they are logged as skipped
 * and dropped, as those that wait are, and leave no dead letter.
 */
import type { Core, Db, Settled } from '@svc/core/internal'
import { findDeletedWebhooks, keepWebhooks } from '../../tables/webhooks.ts'
import { QUEUE } from '../delivery-queue.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { type DeliveryData, type DeliveryJob } from './delivery-job.ts'

type SettledDelivery = Settled<DeliveryData, AttemptRecord>

interface Dropped {
  /** All that were given. Those that are dropped have the result of an attempt that is tried again. */
  settled: SettledDelivery[]
  /** The jobs of those that are dropped, with their next attempt. */
  dropped: DeliveryJob[]
}

/** In the transaction that has made the dead letters. Without any it costs nothing. */
export async function dropDeadOfDeleted(
  core: Core,
  db: Db,
  settled: SettledDelivery[],
): Promise<Dropped> {
  const dead = settled.filter(({ result }) => result === 'dead')
  const deleted = dead.length === 0 ? new Set<string>() : await deletedOf(db, dead)
  if (deleted.size === 0) return { settled, dropped: [] }
  await core.queues.dropDeadLetters(db, QUEUE, [...deleted])
  const isDropped = ({ job, result }: SettledDelivery): boolean =>
    result === 'dead' && deleted.has(job.data.recipient)
  return {
    settled: settled.map((one) => (isDropped(one) ? { ...one, result: 'retry' } : one)),
    dropped: settled.filter(isDropped).map(({ job }) => ({ ...job, attempt: job.attempt + 1 })),
  }
}

/**
 * A deletion that begins after this waits for the transaction, and finds its dead letters. Those that
 * come while a deletion is not committed are deleted at the end of its move.
 */
async function deletedOf(db: Db, dead: SettledDelivery[]): Promise<Set<string>> {
  const idsOf = (some: SettledDelivery[]) => new Set(some.map(({ job }) => job.data.recipient))
  // These are made inactive, which locks them: two transactions with both locks would wait for each other.
  const gone = idsOf(dead.filter(({ outcome }) => outcome.kind === 'rejected'))
  const ids = [...idsOf(dead)]
  const kept = new Set(
    await keepWebhooks(
      db,
      ids.filter((id) => !gone.has(id)),
    ),
  )
  return new Set(
    await findDeletedWebhooks(
      db,
      ids.filter((id) => !kept.has(id)),
    ),
  )
}
