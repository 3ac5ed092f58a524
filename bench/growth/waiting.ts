import type { Bench } from '../benchmark.ts'
import { makeBacklog } from '../delivery/backlog.ts'
import { startHost, type Receiver } from '../delivery/stage.ts'
import { rateOf } from '../delivery/under-way.ts'

/** Jobs that wait in a queue, and how many webhooks they are spread among. */
export interface Waiting {
  name: string
  webhooks: number
  jobs: number
  /** How they differ from jobs that wait for their first attempt. */
  columns?: Record<string, string>
}

const CALLERS = 1000

export async function waitingDatabase(
  bench: Bench,
  receiver: Receiver,
  { webhooks, jobs, columns }: Waiting,
): Promise<string> {
  bench.tell(`filling: ${jobs} jobs for ${webhooks} webhooks`)
  const database = await bench.database()
  const events = eventsOf(webhooks)
  const host = await startHost(bench, { database, events, worker: { enabled: false } })
  await host.call(
    'register',
    events.map((event, n) => ({ url: receiver.at(`/${n}`), events: [event] })),
  )
  if (jobs > 0) {
    await host.call('publishInTurn', events, webhooks, webhooks)
    await makeBacklog(database, jobs, columns)
  }
  await host.stop()
  return database
}

/**
 * A host comes up, publishes as fast as it can and delivers what waits longest; in the middle of it
 * the rate is taken. As much is published as is delivered, so the backlog stays what it is.
 */
export async function whileJobsWait(
  bench: Bench,
  receiver: Receiver,
  database: string,
  { webhooks }: Waiting,
): Promise<{ rate: number }> {
  const events = eventsOf(webhooks)
  const host = await startHost(bench, { database, events })
  const [after, count] = [bench.size(5000, 500), bench.size(20_000, 1000)]
  const [rate] = await Promise.all([
    rateOf(receiver, { after, count }),
    host.call('publishInTurn', events, after + count, CALLERS),
  ])
  await host.stop()
  return { rate }
}

const eventsOf = (webhooks: number): string[] =>
  Array.from({ length: webhooks }, (_, n) => `event.${n}`)
