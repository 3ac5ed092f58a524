// Says which rows of providers are to be looked at again: `node scripts/provider-sources.ts`. A row is, if
// it was checked more than a year ago, or if the library that it was checked against has a newer version.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { listProviders, type ListedProvider } from '../packages/providers/src/list.ts'

const YEAR_MS = 365 * 86_400_000

/** The newest version of a package. */
export type NewestOf = (name: string) => Promise<string>

const run = promisify(execFile)

const askNpm: NewestOf = async (name) => (await run('npm', ['view', name, 'version'])).stdout.trim()

/** What is to be looked at again, a line for each reason. */
export async function staleSources(
  rows: readonly Pick<ListedProvider, 'id' | 'checkedOn' | 'source' | 'docs'>[],
  now: number,
  newestOf: NewestOf,
): Promise<string[]> {
  const newest = new Map<string, Promise<string>>()
  const asked = (name: string): Promise<string> => {
    const known = newest.get(name) ?? newestOf(name)
    newest.set(name, known)
    return known
  }
  const lines: string[] = []
  for (const { id, checkedOn, source, docs } of rows) {
    if (now - Date.parse(checkedOn) > YEAR_MS) {
      lines.push(`${id}: checked on ${checkedOn}, against ${source} (${docs})`)
    }
    for (const [, name = '', version = ''] of source.matchAll(LIBRARY)) {
      const latest = await asked(name)
      if (latest !== version)
        lines.push(`${id}: ${name} is at ${latest}, and was read at ${version}`)
    }
  }
  return lines
}

/** A package with its version, as `stripe@23.1.0` or `@scope/name@1.2.3`. */
const LIBRARY = /((?:@[\w.-]+\/)?[\w.-]+)@(\d+\.\d+\.\d+)/g

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lines = await staleSources(listProviders(), Date.now(), askNpm)
  for (const line of lines) console.log(line)
  process.exitCode = lines.length > 0 ? 1 : 0
}
