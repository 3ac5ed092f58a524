import { commandLine, parentOf } from './postgres/processes.ts'

/**
 * Calls back when the command that the user gave has ended without us: of `npx pnpm test`, npx and pnpm
 * start the next one through shells, which pass on no signal that ends them.
 */
export async function whenOrphaned(callback: () => void): Promise<void> {
  const line = await launchers()
  const watch = setInterval(() => {
    if (line.every(({ child, parent }) => parentOf(child) === parent)) return
    clearInterval(watch)
    callback()
  }, 250)
  watch.unref()
}

/** Who started whom, from us up to npm, npx or pnpm; the user's shell above them may well end. */
async function launchers(): Promise<{ child: number; parent: number }[]> {
  const line = []
  let upToLauncher = 0
  for (let child = process.pid; ; child = line.at(-1)?.parent ?? 0) {
    const parent = parentOf(child)
    const command = await commandLine(parent)
    const isLauncher = /npm|npx|node_modules\/\.bin/.test(command)
    if (!isLauncher && !/^\S*sh -c /.test(command)) return line.slice(0, upToLauncher)
    line.push({ child, parent })
    if (isLauncher) upToLauncher = line.length
  }
}
