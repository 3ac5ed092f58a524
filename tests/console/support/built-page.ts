/** The page of the console as `packages/console` serves it: built where its sources are newer. */
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { until } from '../../support/until.ts'

const PACKAGE = join(import.meta.dirname, '../../../packages/console')
const BUILT = join(PACKAGE, 'web-dist')
const LOCK = join(PACKAGE, 'web-dist.lock')
/** Far longer than a build: whoever held the lock is dead. */
const STALE_MS = 120_000

/** Builds once, whichever test file comes first; the others wait. */
export async function builtPage(): Promise<string> {
  while (isOutdated()) {
    if (takeLock()) {
      try {
        if (isOutdated()) build()
      } finally {
        rmSync(LOCK, { recursive: true, force: true })
      }
    } else await until(() => !isOutdated() || ageOf(LOCK) === undefined)
  }
  return BUILT
}

function isOutdated(): boolean {
  const built = changedAt(join(BUILT, 'index.html'))
  const sources = globSync(['web/**/*', 'package.json'], { cwd: PACKAGE })
  return sources.some((file) => (changedAt(join(PACKAGE, file)) ?? 0) > (built ?? 0))
}

/** In a folder of its own, so that nobody reads half of it. */
function build(): void {
  const folder = `${BUILT}.${process.pid}`
  // Vite has a version of Rolldown for each platform, which is asked for at its import.
  const vite = pathToFileURL(join(PACKAGE, 'node_modules/vite/dist/node/index.js')).href
  const program = `const { build } = await import(${JSON.stringify(vite)})
    await build({ root: 'web', configFile: 'web/vite.config.ts', logLevel: 'warn', build: { outDir: ${JSON.stringify(folder)} } })`
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: PACKAGE, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`The page of the console cannot be built: ${stderr}`)
  rmSync(BUILT, { recursive: true, force: true })
  renameSync(folder, BUILT)
}

function takeLock(): boolean {
  const age = ageOf(LOCK)
  if (age !== undefined && age > STALE_MS) rmSync(LOCK, { recursive: true, force: true })
  try {
    mkdirSync(LOCK)
    return true
  } catch {
    return false
  }
}

const changedAt = (file: string): number | undefined =>
  statSync(file, { throwIfNoEntry: false })?.mtimeMs

function ageOf(file: string): number | undefined {
  const at = changedAt(file)
  return at === undefined ? undefined : Date.now() - at
}
