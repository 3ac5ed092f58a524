import pg from 'pg'

/**
 * Stops all processes of a server of this machine, as one that hangs: its connections stay, and new ones are
 * accepted by the kernel alone. The function lets it go on.
 */
export async function freezePostgres(url: string): Promise<() => void> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid
     union select pid from pg_stat_activity where pid <> pg_backend_pid()`,
  )
  await client.end()
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const { pid } of rows as { pid: number }[]) {
      try {
        process.kill(pid, name)
      } catch (error) {
        // It ended meanwhile.
        if ((error as { code?: string }).code !== 'ESRCH') throw error
      }
    }
  }
  signal('SIGSTOP')
  return () => signal('SIGCONT')
}
