/** The main job of both plugins, told step by step over real HTTP. `--stay` keeps it up afterwards. */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { explain } from './explain.ts'
import { startHost } from './host.ts'
import { openDemoDatabase } from './demo-database.ts'
import { invite } from './invite.ts'
import { startReceiver } from './receiver-process.ts'
import { tellStory } from './story.ts'
import { whenOrphaned } from '../../tests/support/orphan.ts'

const closers: (() => Promise<void>)[] = []
/** What an interrupt exits with: in the middle of the story as the shell expects it, 128 + SIGINT. */
let interruptedWith = 130
let interrupted = false

async function main(): Promise<void> {
  const { stay } = readArguments()
  const secrets = {
    BOOTSTRAP_KEY: randomBytes(24).toString('base64url'),
    GITHUB_SECRET: randomBytes(24).toString('base64url'),
  }
  const database = await openDemoDatabase()
  closers.push(() => database.close())
  const receiver = await startReceiver()
  closers.push(() => receiver.stop())
  const host = await startHost({ database: database.url, secrets, port: readPort() })
  closers.push(() => host.app.close())

  await tellStory({ base: host.url, secrets, receiver, heard: host.heard })
  if (stay) {
    invite({ base: host.url, receiver: receiver.url, secrets })
    interruptedWith = 0
    await new Promise(() => {}) // until Ctrl-C; the listening host keeps the process alive
  }
}

function readArguments(): { stay: boolean } {
  const { values } = parseArgs({
    // pnpm hands its own "--" on.
    args: process.argv.slice(2).filter((argument) => argument !== '--'),
    options: { stay: { type: 'boolean', default: false } },
  })
  return values
}

/** `PORT`, else any port that is free. */
function readPort(): number {
  const port = Number(process.env.PORT ?? 0)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`PORT must be a number from 0 to 65535, got "${process.env.PORT}".`)
}

async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close().catch(() => {})
}

function interrupt(): void {
  interrupted = true
  void closeAll().then(() => process.exit(interruptedWith))
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, interrupt)
void whenOrphaned(interrupt)

try {
  await main()
  process.exitCode = 0
} catch (error) {
  // What was cut short complains on its way out.
  if (!interrupted) console.error(`\n${explain(error)}`)
  process.exitCode = 1
} finally {
  await closeAll()
}
