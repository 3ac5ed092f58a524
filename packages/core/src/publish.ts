/** From a publish to the jobs that follow from it, in one transaction. */
import type { Db } from './database.ts'
import { insertEvents, type EventRow, type Want } from './event-log.ts'
import { derivedId, uuidv7 } from './ids.ts'
import type { FanOutJob, NewJob } from './job.ts'
import { insertJobs, type PgBoss } from './queue.ts'

export interface Published {
  /** One for each event given, in that order. */
  results: { id: string; duplicate: boolean }[]
  /** The queues that have new jobs once this is committed. */
  queues: string[]
  /** The transaction that it stands in. */
  transactionId: string | undefined
}

/** Two events of one batch must not share name and id: the micro-batch sees to that. */
export async function publishEvents(boss: PgBoss, db: Db, events: EventRow[]): Promise<Published> {
  const wants = await insertEvents(db, events)
  const jobs = Map.groupBy(wants.filter(isWanted), ({ queue }) => queue)
  for (const [queue, wanted] of jobs) await insertJobs(boss, db, queue, wanted.map(jobOf))
  const fresh = new Set(wants.filter((want) => want.fresh).map(keyOf))
  return {
    results: events.map((event) => ({ id: event.id, duplicate: !fresh.has(keyOf(event)) })),
    queues: [...jobs.keys()],
    transactionId: wants[0]?.transactionId,
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
