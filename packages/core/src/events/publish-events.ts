/** From a publish to the jobs that follow from it, in one transaction. */
import type { Db } from '../postgres/transaction.ts'
import type { RetrySettings } from '../jobs/pg-boss/dead-letters.ts'
import { insertEvents, type EventRow, type Want } from './events-table.ts'
import { derivedId, uuidv7 } from '../ids.ts'
import type { FanOutJob, NewJob } from '../jobs/job.ts'
import { takeFreeKeys, type Claim } from '../kv/kv-table.ts'
import { insertJobs, type PgBoss } from '../jobs/pg-boss/boss.ts'

export interface Published {
  /** One for each event given, in that order. */
  results: { id: string; duplicate: boolean }[]
  /** The jobs that followed from them. */
  jobs: number
  /** The queues that have new jobs once this is committed. */
  queues: string[]
  /** The transaction in which it was written. */
  transactionId: string | undefined
}

/** Two events of one batch must not share name and id: the micro-batch sees to that. */
export async function publishEvents(
  boss: PgBoss,
  db: Db,
  events: EventRow[],
  retry: RetrySettings,
): Promise<Published> {
  const wants = events.length === 0 ? [] : await insertEvents(db, events)
  const jobs = Map.groupBy(wants.filter(isWanted), ({ queue }) => queue)
  for (const [queue, wanted] of jobs) await insertJobs(boss, db, queue, wanted.map(jobOf), retry)
  const fresh = new Set(wants.filter((want) => want.fresh).map(keyOf))
  return {
    results: events.map((event) => ({ id: event.id, duplicate: !fresh.has(keyOf(event)) })),
    jobs: wants.length,
    queues: [...jobs.keys()],
    transactionId: wants[0]?.transactionId,
  }
}

/** An event that is published if its key is free. */
export interface DeduplicatedEvent extends EventRow {
  claim: Claim
}

export interface PublishedOnce extends Omit<Published, 'results'> {
  /** `null` where the key was taken. */
  results: (Published['results'][number] | null)[]
}

/** The claims and the events stand or fall together. Two events of one batch must not share a key. */
export async function publishDeduplicated(
  boss: PgBoss,
  db: Db,
  events: DeduplicatedEvent[],
  retry: RetrySettings,
): Promise<PublishedOnce> {
  const free = await takeFreeKeys(
    db,
    events.map(({ claim }) => claim),
  )
  const isFirst = ({ claim }: DeduplicatedEvent) => free.has(claim.key)
  const published = await publishEvents(boss, db, events.filter(isFirst), retry)
  const results = published.results.values()
  return {
    ...published,
    results: events.map((event) => (isFirst(event) ? (results.next().value ?? null) : null)),
  }
}

export const keyOf = ({ name, id }: { name: string; id: string }): string => `${name}\n${id}`

type Wanted = Want & { subscription: string; queue: string }

const isWanted = (want: Want): want is Wanted =>
  want.queue !== null && (!want.targeted || want.target !== null)

function jobOf(want: Wanted): NewJob {
  const to = want.target ?? want.subscription
  // A replay is another job: the id of the first may still stand in the queue.
  const id = want.fresh ? derivedId(want.name, want.id, to) : uuidv7()
  const data: FanOutJob = { event: want.name, eventId: want.id, deliveryId: id }
  if (want.target === null) return { id, data }
  return { id, data: { ...data, target: want.target }, group: want.target }
}
