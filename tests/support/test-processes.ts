/**
 * Which test files share a process. Most of what a small file costs is to start Node, to import the
 * packages and to run code that is not compiled yet.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, '.tap/processes')

/** So few that the processes of a run end at about the same time. */
const MOST = 6

/** Elsewhere a test starts programs and waits for them: its process has little to share. */
const SHARING = /^tests\/(auth|console(?!\/web)|core|receiver|webhooks)\//

/** A comment of a file that changes what all code of its process sees. */
const OWN_PROCESS = /^\/\/ In a process of its own: /m

/** What is to be run for these test files, whose paths begin with `tests/`: some of them, or modules that import them. */
export function programsFor(files: readonly string[]): string[] {
  const [alone, sharing] = partition(files, mustBeAlone)
  const folders = Object.entries(Object.groupBy(sharing, (file) => dirname(file)))
  const shared = folders.flatMap(([folder, its = []]) =>
    evenPortions(its, MOST).map((portion, place) => programOf(`${folder}-${place + 1}`, portion)),
  )
  return [...alone, ...shared]
}

const mustBeAlone = (file: string): boolean =>
  !SHARING.test(file) || OWN_PROCESS.test(readFileSync(join(ROOT, file), 'utf8'))

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}

/** As few portions as `most` allows, of about the same size. */
export function evenPortions<T>(all: readonly T[], most: number): T[][] {
  const size = Math.ceil(all.length / Math.ceil(all.length / most))
  const portions = []
  for (let start = 0; start < all.length; start += size) {
    portions.push(all.slice(start, start + size))
  }
  return portions
}

/** The module that runs these files. It is named by them, so that two runs write the same. */
function programOf(name: string, files: readonly string[]): string {
  if (files.length === 1) return files[0]!
  const path = join(FOLDER, `${name.replace(/^tests\//, '').replaceAll('/', '-')}.mjs`)
  mkdirSync(FOLDER, { recursive: true })
  const runner = relative(FOLDER, join(import.meta.dirname, 'run-together.ts'))
  writeFileSync(
    path,
    `import { runTogether } from '${runner}'\n\nawait runTogether(${JSON.stringify(files, null, 2)})\n`,
  )
  return path
}
