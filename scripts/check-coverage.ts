// After a whole run of the tests: are enough of the packages' lines covered?
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, relative } from 'node:path'

const REQUIRED_PERCENT = 95
const root = join(import.meta.dirname, '..')

interface Lines {
  total: number
  covered: number
}

const measured = readReport()
const files = globSync('packages/*/src/**/*.ts', { cwd: root }).toSorted()
const rows = files.map((file) => ({ file, ...(measured.get(file) ?? neverLoaded(file)) }))

for (const { file, ...lines } of rows) {
  if (percent(lines) < REQUIRED_PERCENT) console.log(`${format(lines)}  ${file}`)
}
const all = {
  total: rows.reduce((sum, { total }) => sum + total, 0),
  covered: rows.reduce((sum, { covered }) => sum + covered, 0),
}
const enough = percent(all) >= REQUIRED_PERCENT
console.log(`${format(all)}  of all lines are covered, ${REQUIRED_PERCENT} % are required`)
process.exitCode = enough ? 0 : 1

function readReport(): Map<string, Lines> {
  const path = join(root, '.tap', 'report', 'coverage-summary.json')
  const { total: _, ...byFile } = JSON.parse(readFileSync(path, 'utf8')) as Record<
    string,
    { lines: Lines }
  >
  return new Map(
    Object.entries(byFile).map(([file, { lines }]) => [relative(root, file), lines] as const),
  )
}

/** The report has only files that tests have loaded. A file that holds only types is never loaded. */
function neverLoaded(file: string): Lines {
  const code = stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'))
  const statements = code.replace(/\/\*[^]*?\*\/|\/\/.*|export \{\s*\}/g, '').trim()
  return { total: statements ? code.split('\n').length : 0, covered: 0 }
}

function percent({ total, covered }: Lines): number {
  return total ? (100 * covered) / total : 100
}

function format(lines: Lines): string {
  return `${percent(lines).toFixed(1).padStart(6)} %`
}
