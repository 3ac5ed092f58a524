import pg from 'pg'

export interface Row {
  /** With its schema. */
  table: string
  /** All columns, as text of Postgres. */
  text: string
}

/** Every row of every table of a database: ours, pg-boss's, the host's. */
export async function everyRow(database: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const all: Row[] = []
  for (const { name } of tables) {
    // A partition's rows are those of the table that it is a part of.
    const { rows } = await client.query<{ text: string }>(
      `select t::text as text from only ${name} as t`,
    )
    all.push(...rows.map(({ text }) => ({ table: name, text })))
  }
  await client.end()
  return all
}

export const textOf = (rows: readonly Row[]): string => rows.map(({ text }) => text).join('\n')
