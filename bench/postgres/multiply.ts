import { query } from './server.ts'

/**
 * Makes many rows of one: millions of jobs, keys and log entries, in the time that Postgres needs
 * to write them. Columns that are not named are copied from the row.
 *
 * @param where the row, as a condition on `row`
 * @param columns expressions over `row` and the number `n` from 1 on
 */
export async function multiply(
  url: string,
  { table, where, count, columns }: Multiplication,
): Promise<void> {
  const { rows } = await query(
    url,
    `select attname as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      order by attnum`,
    [table],
  )
  const names = rows.map(({ name }) => String(name))
  const values = names.map((name) => columns[name] ?? `row."${name}"`)
  await query(
    url,
    `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})
     select ${values.join(', ')}
       from ${table} as row, generate_series(1, ${count}) as n
      where ${where}`,
  )
  await query(url, `analyze ${table}`)
}

export interface Multiplication {
  table: string
  where: string
  count: number
  columns: Record<string, string>
}
