/** Databases in which many jobs wait in the delivery queue. */
import type { Bench } from '../benchmark.ts'
import { startHost, type Receiver } from '../delivery/stage.ts'
import { multiply, query } from '../postgres/server.ts'

/** Jobs that wait, and how many webhooks they belong to. */
export interface Waiting {
  name: string
  webhooks: number
  jobs: number
  /** How they differ from jobs that wait for their first attempt, as SQL. */
  columns?: Record<string, string>
}

const CALLERS = 1000
const QUEUE = '__svc.webhooks.deliver'

export const eventsOf = (webhooks: number): string[] =>
  Array.from({ length: webhooks }, (_, n) => `event.${n}`)

export async function waitingDatabase(
  bench: Bench,
  receiver: Receiver,
  { webhooks, jobs, columns }: Omit<Waiting, 'name'>,
): Promise<string> {
  bench.tell(`preparing ${jobs} jobs for ${webhooks} webhooks`)
  const database = await bench.database()
  const events = eventsOf(webhooks)
  const host = await startHost(bench, { database, events, worker: { enabled: false } })
  await host.call(
    'register',
    events.map((event, n) => ({ url: receiver.at(`/${n}`), events: [event] })),
  )
  if (jobs > 0) {
    await host.call('publish', events, webhooks, webhooks)
    await multiplyJobs(database, jobs, columns)
  }
  await host.stop()
  return database
}

/**
 * Replaces the waiting jobs by `count` copies, each with an event of its own, which were published
 * in turn, a microsecond apart. `count` is a multiple of the number of waiting jobs.
 */
async function multiplyJobs(
  database: string,
  count: number,
  columns: Record<string, string> = {},
): Promise<void> {
  const queue = await query(
    database,
    'select table_name as "table" from svc_jobs.queue where name = $1',
    [QUEUE],
  )
  const table = `svc_jobs.${queue.rows[0].table}`
  const { rows } = await query(database, `select id::text, count(*) over ()::int from ${table}`)
  const ids = rows.map(({ id }) => `'${id}'`).join(', ')
  const each = count / Number(rows[0].count)
  await multiply(database, 'svc."__svc.events"', {
    where: `row.id in (select data ->> 'eventId' from ${table} where id in (${ids}))`,
    count: each,
    columns: { id: `row.id || '/' || n` },
  })
  await multiply(database, table, {
    where: `row.id in (${ids})`,
    count: each,
    columns: {
      id: `md5(row.id::text || n)::uuid`,
      data: `row.data || jsonb_build_object('eventId', (row.data ->> 'eventId') || '/' || n,
               'deliveryId', md5(row.id::text || n)::uuid)`,
      created_on: `row.created_on + n * interval '1 microsecond'`,
      ...columns,
    },
  })
  await query(database, `delete from ${table} where id in (${ids})`)
}

/**
 * Starts a host that publishes as fast as it can and delivers what waits longest, and measures its
 * rate under way. As much is published as is delivered, so the number of waiting jobs stays.
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
  await receiver.call('reset')
  const [rate] = await Promise.all([
    rateBetween(receiver, after, after + count),
    host.call('publish', events, after + count, CALLERS),
  ])
  await host.stop()
  return { rate }
}

async function rateBetween(receiver: Receiver, first: number, last: number): Promise<number> {
  const start = await receiver.call('reached', first, 120)
  const end = await receiver.call('reached', last, 300)
  return (last - first) / ((end.lastAt - start.lastAt) / 1000)
}
