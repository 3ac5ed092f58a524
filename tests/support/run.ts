// `pnpm test`: starts Postgres, makes the template, runs tap with the arguments given, ends all of it.
// `--with node@22.19` and the like: with another version, see other-versions.ts.
// `--citus URL`: on a cluster of Citus, see citus.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, statSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { CITUS_VARIABLE, splitCitus } from './citus.ts'
import { whenOrphaned } from './orphan.ts'
import { runWith, splitArguments } from './other-versions.ts'
import { startRun } from './start-run.ts'
import { programsFor } from './test-processes.ts'
import { RUN_VARIABLE } from './test-run.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Most of what a test file costs is to compile what it imports, which is the same for all of them. */
const COMPILE_CACHE = join(ROOT, 'node_modules/.cache/svc-tests')

/** How long the testing kit waits: on a busy machine all of it may take many times as long. */
const SLOW_MACHINE = { SVC_TESTING_TIMEOUT_MS: '120000' }

const { citus, others } = splitCitus(process.argv.slice(2).filter((argument) => argument !== '--'))
if (citus !== undefined) process.env[CITUS_VARIABLE] = citus
const { versions, others: given } = splitArguments(others)
if (versions.length > 0) process.exit(await runWith(versions, import.meta.filename, given))

let interrupted: NodeJS.Signals | undefined
let group: number | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
await whenOrphaned(() => interrupted || interrupt('SIGTERM'))

try {
  const { run, versions: used, end } = await startRun()
  console.error(used)
  try {
    process.exitCode = interrupted ? 1 : await runTap(JSON.stringify(run))
  } finally {
    await end()
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
process.exit(interrupted ? 128 + constants.signals[interrupted] : process.exitCode)

async function runTap(run: string): Promise<number> {
  // A test without its own database must not use the developer's real one.
  const { DATABASE_URL: _, ...env } = process.env
  const tap = join(fileURLToPath(import.meta.resolve('tap')), '..', 'run.mjs')
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'leash.ts'), process.execPath, tap, ...tapArguments()],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
      detached: true,
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...SLOW_MACHINE, ...env, [RUN_VARIABLE]: run },
    },
  )
  group = child.pid
  const [code] = (await once(child, 'exit')) as [number | null]
  signalGroup('SIGKILL') // what a test may have left running
  return code ?? 1
}

function tapArguments(): string[] {
  // As many again as there are cores: many a test waits.
  const jobs = `--jobs=${2 * Math.max(2, availableParallelism())}`
  // Only CI judges the covered lines. To count them takes a fifth of the CPU time, and to note which
  // modules each process loads a quarter of a second of each.
  const coverage = process.env['CI']
    ? ['--coverage-exclude=tests/**/*.ts']
    : ['--disable-coverage', '--test-env=_TAPJS_PROCESSINFO_EXCLUDE_=/^/']
  return [jobs, ...coverage, ...programsOf(given)]
}

/** Files of a folder may share a process. A file that is named does not, nor where tap is told more. */
function programsOf(given: string[]): string[] {
  const isPlain = given.every((argument) => statSync(argument, { throwIfNoEntry: false }))
  const paths = given.length === 0 ? ['tests'] : given
  return paths.flatMap((path) => {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
    // tap would take the JavaScript files of a folder.
    const files = globSync(`${relative(ROOT, path)}/**/*.test.ts`, { cwd: ROOT }).toSorted()
    return isPlain ? programsFor(files) : files
  })
}

/** The first signal asks tap to end, so that it can say what was running; the next one insists. */
function interrupt(signal: NodeJS.Signals): void {
  signalGroup(interrupted ? 'SIGKILL' : signal)
  interrupted = signal
  setTimeout(() => signalGroup('SIGKILL'), 5000).unref()
}

function signalGroup(signal: NodeJS.Signals): void {
  try {
    if (group) process.kill(-group, signal)
  } catch {
    // nobody is left in it
  }
}
