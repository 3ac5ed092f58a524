/** The packages as they were at a commit of this repository, to be run beside today's. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: ROOT })

/** Why they cannot be had: a copy without the history does not have that commit. */
export async function withoutCommit(commit: string): Promise<string | false> {
  try {
    await git('cat-file', '-e', `${commit}^{commit}`)
    return false
  } catch {
    return `the commit ${commit} is not here: a shallow clone gets it by "git fetch --unshallow", a copy without history cannot run this`
  }
}

/**
 * A folder with these files, which find the packages of `commit` and, of others, what is installed
 * here. It is not in `node_modules`, where Node would not run TypeScript.
 */
export async function olderFolder(
  t: Test,
  commit: string,
  files: Record<string, string>,
): Promise<string> {
  const folder = join(ROOT, '.tap/older', `${commit}-${process.pid}`)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'node_modules/@svc'), { recursive: true })
  await unpack(folder, commit)
  for (const name of await readdir(join(folder, 'packages'))) {
    await symlink(join(folder, 'packages', name), join(folder, 'node_modules/@svc', name))
    await linkDependencies(name, join(folder, 'packages', name, 'node_modules'))
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

async function unpack(folder: string, commit: string): Promise<void> {
  const archive = spawn('git', ['archive', commit, 'package.json', 'packages'], { cwd: ROOT })
  const tar = spawn('tar', ['x', '-C', folder])
  archive.stdout.pipe(tar.stdin)
  const [code] = (await once(tar, 'close')) as [number]
  if (code !== 0) throw new Error(`the packages of ${commit} could not be unpacked`)
}

/** Links the dependencies of today's package of that name, but for ours. */
async function linkDependencies(name: string, folder: string): Promise<void> {
  const installed = join(ROOT, 'packages', name, 'node_modules')
  if (!existsSync(installed)) return
  await mkdir(folder, { recursive: true })
  for (const dependency of await readdir(installed)) {
    if (dependency === '@svc' || dependency.startsWith('.')) continue
    await symlink(join(installed, dependency), join(folder, dependency))
  }
}
