import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

/**
 * CPU time of all processes of a server since it started, in microseconds; not a number where
 * `/proc` does not tell: on other systems than Linux, or where the server is elsewhere.
 */
export async function cpuOfServer(url: string): Promise<number> {
  try {
    const postmaster = await postmasterOf(url)
    let ticks = 0
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const stat = await statOf(pid).catch(() => undefined)
      if (stat?.parent === postmaster) ticks += stat.own
      // Those that have ended since are counted with it.
      if (pid === postmaster) ticks += (stat?.own ?? 0) + (stat?.ended ?? 0)
    }
    return (ticks / TICKS_PER_SECOND) * 1e6
  } catch {
    return Number.NaN
  }
}

const TICKS_PER_SECOND = 100

/** The parent of the process that answers a connection. */
async function postmasterOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query('select pg_backend_pid()::text as pid')
    return (await statOf(rows[0].pid)).parent
  } finally {
    await client.end()
  }
}

async function statOf(pid: string): Promise<{ parent: string; own: number; ended: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in parentheses, may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (field: number) => Number(fields[field - 3])
  return { parent: fields[1] ?? '', own: at(14) + at(15), ended: at(16) + at(17) }
}
