import { query } from './server.ts'

/** What the server spent its time on, most first: for whoever looks for the bottleneck. */
export async function topStatements(server: string, limit = 12): Promise<string> {
  await query(server, 'create extension if not exists pg_stat_statements')
  const { rows } = await query(
    server,
    `select round(total_exec_time) as ms, calls, rows,
            round((total_exec_time / calls)::numeric, 3) as mean,
            left(regexp_replace(query, '\\s+', ' ', 'g'), 140) as text
       from pg_stat_statements
      order by total_exec_time desc
      limit $1`,
    [limit],
  )
  return [
    'total ms · calls · rows · mean ms · statement',
    ...rows.map(({ ms, calls, rows: count, mean, text }) =>
      [ms, calls, count, mean, text].join(' · '),
    ),
  ].join('\n')
}
