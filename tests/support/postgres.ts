import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { BINARIES_VARIABLE } from './postgres/binaries.ts'

/** A Postgres server that is running. */
export interface Postgres {
  /** A superuser's connection string to the database `postgres`. */
  url: string
  /** Ends what was started for this call; a server that was there before is left alone. */
  stop: () => Promise<void>
}

/** A server of our own. */
export interface OwnPostgres extends Postgres {
  /**
   * Shuts it down at once, as `pg_ctl stop -m immediate` does, and starts it again on the same port.
   * Does not wait: connections are refused until it is back.
   */
  restart: () => void
  /** Kills it, as a machine that fails. Does not wait. */
  kill: () => void
  /** Kills it with SIGKILL, and starts it again on the same port. Does not wait. */
  crash: () => void
  /** Of a server that follows it, and becomes a primary by `select pg_promote()`. */
  standby: string | undefined
}

/** The server that `DATABASE_URL` names where it is set, else one of our own. */
export async function usePostgres(): Promise<Postgres> {
  const url = process.env.DATABASE_URL
  return url ? { url, stop: async () => {} } : startPostgres()
}

/**
 * A new, empty Postgres 18 on a free loopback port, with its files in a temporary folder. It ends
 * with this process however this process ends, SIGKILL included. It does not keep the process alive.
 *
 * @param settings server settings over ours, such as `{ fsync: 'on' }`
 * @param options `standby`: with a second server, which has each commit before it is acknowledged, or some time
 *   later (`late`); `binaries`: the folder of the programs, instead of those in node_modules
 */
export async function startPostgres(
  settings: Record<string, string> = {},
  { standby = false, binaries }: { standby?: boolean | 'late'; binaries?: string } = {},
): Promise<OwnPostgres> {
  // The keeper holds on to the server as long as this pipe is open, and the kernel closes the pipe of
  // a dead process. In a session of its own, the keeper does not hear a terminal's Ctrl-C.
  const keeper = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'postgres', 'keeper.ts'),
      JSON.stringify(settings),
      ...(standby ? [standby === 'late' ? 'late' : 'standby'] : []),
    ],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      windowsHide: true,
      env: { ...plainEnvironment(), ...(binaries && { [BINARIES_VARIABLE]: binaries }) },
    },
  )
  const ended = once(keeper, 'exit')
  const said = JSON.parse((await text(keeper.stdout)) || '{}') as {
    url?: string
    standby?: string
    error?: string
  }
  if (!said.url) throw new Error(said.error ?? 'The embedded Postgres could not be started.')
  keeper.unref()
  const leash = keeper.stdin as unknown as { unref(): void }
  leash.unref()

  return {
    url: said.url,
    stop: async () => {
      keeper.ref()
      keeper.stdin.end()
      await ended
    },
    restart: () => void keeper.stdin.write('restart\n'),
    kill: () => void keeper.stdin.write('kill\n'),
    crash: () => void keeper.stdin.write('crash\n'),
    standby: said.standby,
  }
}

/** Without what a test runner puts into its children: the keeper is not under test. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...rest } = process.env
  return rest
}
