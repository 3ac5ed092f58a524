/** Runs several test files in this process, one after the other. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import tap, { type Test } from 'tap'

const ROOT = join(import.meta.dirname, '../..')

/** The tests of the files, by URL, where the modules that stand in for tap find them. */
const tests = new Map<string, Test>()
const KEY = 'svcTestsByFile'
Object.defineProperty(globalThis, KEY, { value: tests })

/**
 * Each file is a test, which the file imports as `t` from tap. Its hooks and teardowns are therefore
 * its own, and so is the time that it may take.
 */
export async function runTogether(files: readonly string[]): Promise<void> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'tap' && tests.has(context.parentURL ?? '')
        ? { url: standInFor(context.parentURL!), format: 'module', shortCircuit: true }
        : next(specifier, context),
  })
  const { timeout = 0 } = tap.options
  tap.setTimeout(timeout * files.length)
  for (const file of files) {
    const url = pathToFileURL(join(ROOT, file)).href
    await tap.test(file, { timeout }, async (t) => {
      tests.set(url, t)
      await import(url)
    })
  }
}

const standInFor = (url: string): string =>
  `data:text/javascript,${encodeURIComponent(`export default ${KEY}.get(${JSON.stringify(url)})`)}`
