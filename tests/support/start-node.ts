/** A process of Node below a test. */
import { spawn, type ChildProcessWithoutNullStreams, type SpawnOptions } from 'node:child_process'

const IS_COVERAGE_MEASURED = Boolean(process.env['CI'])

/**
 * Starts Node without the hooks that tap puts into each Node below it, by `NODE_OPTIONS`: with them a start
 * takes twice as long, and `require` cannot load our TypeScript. They measure the coverage, so they stay
 * where it is measured.
 *
 * @param isMeasured whether they do. @default in continuous integration
 */
export function startNode(
  args: readonly string[],
  options: SpawnOptions,
  isMeasured = IS_COVERAGE_MEASURED,
): ChildProcessWithoutNullStreams {
  const own = options.env?.['NODE_OPTIONS']
  const withoutHooks = own === undefined ? ['-u', 'NODE_OPTIONS'] : [`NODE_OPTIONS=${own}`]
  const [command, ...all] = [
    ...(isMeasured ? [] : ['env', ...withoutHooks]),
    process.execPath,
    ...args,
  ]
  return spawn(command!, all, options) as ChildProcessWithoutNullStreams
}
