import { readdir, readFile } from 'node:fs/promises'
import { query } from './server.ts'

const MICROSECONDS_PER_TICK = 10_000

/**
 * Reads the CPU time that all processes of a server have used, in µs; NaN without Linux's `/proc`,
 * or if the server runs on another machine.
 */
export async function cpuReader(url: string): Promise<() => Promise<number>> {
  try {
    const { rows } = await query(
      url,
      `select pid::text from pg_stat_activity where backend_type = 'checkpointer'`,
    )
    const { parent: postmaster } = await statOf(rows[0].pid)
    return () => cpuBelow(postmaster)
  } catch {
    return () => Promise.resolve(Number.NaN)
  }
}

async function cpuBelow(postmaster: string): Promise<number> {
  for (;;) {
    // The postmaster has counted those of its children that have ended, in ticks.
    const { endedTicks } = await statOf(postmaster)
    let microseconds = endedTicks * MICROSECONDS_PER_TICK + (await cpuOf(postmaster))
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const stat = await statOf(pid).catch(() => undefined)
      if (stat?.parent === postmaster) microseconds += await cpuOf(pid).catch(() => 0)
    }
    // A child that has ended meanwhile may be in neither sum, with all that it has used.
    if ((await statOf(postmaster)).endedTicks === endedTicks) return microseconds
  }
}

/** From `schedstat`, in nanoseconds: the ticks of `stat` are too coarse for a server that is idle. */
async function cpuOf(pid: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8')
  return Number(text.split(' ')[0]) / 1000
}

async function statOf(pid: string): Promise<{ parent: string; endedTicks: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in parentheses, may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { parent: fields[1] ?? '', endedTicks: Number(fields[13]) + Number(fields[14]) }
}
