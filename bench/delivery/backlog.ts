import { query } from '../postgres/server.ts'
import { multiply } from '../postgres/multiply.ts'

const QUEUE = '__svc.webhooks.deliver'

/** The table in which pg-boss keeps the jobs of the delivery queue. */
export async function jobTable(database: string): Promise<string> {
  const { rows } = await query(
    database,
    `select table_name as "table" from svc_jobs.queue where name = $1`,
    [QUEUE],
  )
  return `svc_jobs.${rows[0].table}`
}

/**
 * Makes many waiting deliveries of the few that were published: each with an event of its own.
 * They were published in turn, a microsecond apart. What was there before is gone.
 *
 * @param count a multiple of the number of waiting jobs
 * @param columns what else differs from jobs that wait for their first attempt
 */
export async function makeBacklog(
  database: string,
  count: number,
  columns: Record<string, string> = {},
): Promise<void> {
  const table = await jobTable(database)
  const { rows } = await query(database, `select id::text, count(*) over ()::int from ${table}`)
  const ids = rows.map(({ id }) => `'${id}'`).join(', ')
  const each = count / Number(rows[0].count)
  await multiply(database, {
    table: 'svc."__svc.events"',
    where: `row.id in (select data ->> 'eventId' from ${table} where id in (${ids}))`,
    count: each,
    columns: { id: `row.id || '/' || n` },
  })
  await multiply(database, {
    table,
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
