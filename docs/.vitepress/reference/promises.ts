import { sourceOf, sources, table } from './declarations.ts'
import { REPOSITORY } from '../addresses.ts'

const PROMISE = /^\/\/ promise: (.+)$/gm

/** Each promise with the tests that name it in their first lines. */
export function promises(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of sources('tests/**/*.test.ts')) {
    if (file.includes('node_modules')) continue
    for (const [, promise = ''] of sourceOf(file).matchAll(PROMISE)) {
      found.set(promise, [...(found.get(promise) ?? []), file])
    }
  }
  return found
}

export const promisesPage = (): string => `# Promises and their tests

Each row is a promise of these pages, with the tests that fail if it is broken. A test names its promise in its first lines.

${table(
  ['promise', 'tests'],
  [...promises()]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([promise, files]) => [
      promise,
      files.map((file) => `[${file.slice(6)}](${REPOSITORY}/blob/main/${file})`).join('<br>'),
    ]),
)}`
