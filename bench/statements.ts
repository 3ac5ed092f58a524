/** Counts what the clients of this process send to Postgres. */
export async function countStatements(): Promise<() => number> {
  const { default: pg } = await import('pg')
  const client = pg.Client.prototype as { query: (...args: unknown[]) => unknown }
  const { query } = client
  let statements = 0
  client.query = function counted(this: unknown, ...args: unknown[]) {
    statements++
    return Reflect.apply(query, this, args)
  }
  return () => statements
}
