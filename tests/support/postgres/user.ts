import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Whom a child process runs as, in the words of `spawn`; empty where we are unprivileged ourselves. */
export type User = { uid: number; gid: number } | Record<string, never>

const run = promisify(execFile)

/** Postgres refuses to run as root: there it runs as a user who is on the machine already. */
export async function unprivilegedUser(): Promise<User> {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', '_postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    } catch {
      // no such user
    }
  }
  throw new Error(
    'Postgres cannot run as root, and there is no user "postgres" or "nobody" to run it as; set DATABASE_URL.',
  )
}
