/** The main job of both plugins, step by step over real HTTP. `--stay` keeps the host up afterwards. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import { explain } from './explain.ts'
import { startHost } from './host.ts'
import { openDemoDatabase } from './demo-database.ts'
import { invite } from './invite.ts'
import { bringToLife, LIFE } from './life.ts'
import { printReceived, stopPrinting } from './print.ts'
import { startReceiver } from './receiver-process.ts'
import { showAll } from './story.ts'
import { builtPage } from '../../tests/console/support/built-page.ts'
import { whenOrphaned } from '../../tests/support/orphan.ts'

const closers: (() => Promise<void>)[] = []
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
  if (stay) await builtPage()
  const host = await startHost({
    database: database.url,
    secrets,
    port: readPort(),
    withConsole: stay,
  })
  closers.push(() => host.app.close())

  const { app, url: base, handled } = host
  const webhook = await showAll({ app, base, secrets, receiver, handled })
  if (stay) {
    const end = await bringToLife(host, receiver)
    closers.push(async () => end())
    const portal = new URL(await app.svc.console.portalLink({ tenant: 'acme' }), base).href
    invite({ base, receiver: receiver.url, secrets, webhook, portal })
    receiver.onReceived((received) => received.path.startsWith(LIFE) || printReceived(received))
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

/**
 * Ctrl-C ends the demo with status 0: pnpm reports any other status as a failure, and also a shell
 * that Ctrl-C has ended. The script in package.json therefore makes the shells between pnpm and here
 * ignore it. Node does not inherit that. `! trap … || node …` runs node under cmd.exe too, which has
 * no trap.
 */
function interrupt(signal: NodeJS.Signals): void {
  if (interrupted) return
  interrupted = true
  console.log('\nClosing.')
  stopPrinting()
  const status = signal === 'SIGINT' ? 0 : 128 + constants.signals[signal]
  void closeAll().then(() => process.exit(status))
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
void whenOrphaned(() => interrupt('SIGTERM'))

try {
  await main()
  process.exitCode = 0
} catch (error) {
  // Steps that the interruption cut short fail: that is no error of the demo.
  if (!interrupted) {
    console.error(`\n${explain(error)}`)
    process.exitCode = 1
  }
} finally {
  if (!interrupted) await closeAll()
}
