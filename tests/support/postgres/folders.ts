import { chown, mkdtemp, readdir, readFile, realpath, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { commandLine } from './processes.ts'
import type { User } from './user.ts'

const OURS = /^svc-postgres-(\d+)-/

/** Linux has a file system in memory here. Programs may be forbidden in it. */
const MEMORY = '/dev/shm'
/** In a container there are often a few megabytes of it. */
const ENOUGH_BYTES = 4 * 2 ** 30

/** A folder for one server's files, named after the process that will remove it: this one. */
export async function makeFolder(user: User): Promise<string> {
  return folderIn(await roomFor(user), user)
}

/**
 * The same in memory, where there is room for data. A test makes a database of a thousand files and
 * drops it: on a disk most of what that costs is the file system's.
 */
export async function makeFolderInMemory(user: User): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(MEMORY)
    return bavail * bsize < ENOUGH_BYTES ? undefined : await folderIn(MEMORY, user)
  } catch {
    return undefined // there is none, or it is closed to us
  }
}

async function folderIn(room: string, user: User): Promise<string> {
  const folder = await mkdtemp(join(room, `svc-postgres-${process.pid}-`))
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid)
  return folder
}

/** Removes what keepers left that were killed: their folders, and servers that still run there. */
export async function sweepFolders(): Promise<void> {
  if (process.platform === 'win32') return // nothing there tells who lives
  for (const room of new Set([tmpdir(), '/tmp', MEMORY])) {
    for (const name of await readdir(room).catch(() => [])) {
      const keeper = Number(OURS.exec(name)?.[1])
      if (!keeper || (await commandLine(keeper)).includes('keeper.ts')) continue
      await removeLeftover(join(room, name)).catch(() => {}) // another user's: theirs to sweep
    }
  }
}

async function removeLeftover(folder: string): Promise<void> {
  const pidFile = await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8').catch(() => '')
  const server = Number.parseInt(pidFile, 10)
  // The number may be another process's by now, perhaps another Postgres: only the folder tells.
  if (server && (await commandLine(server)).includes(folder)) process.kill(server, 'SIGQUIT')
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

/** The temporary folder, unless it is closed to the user whom the server runs as. */
async function roomFor(user: User): Promise<string> {
  if (user.uid === undefined || (await isOpenToAll(tmpdir()))) return realpath(tmpdir())
  return realpath('/tmp')
}

/** Whether users other than the owner get there: one folder of mode 0700 on the way locks them out. */
export async function isOpenToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path)
  if ((mode & 0o001) === 0) return false
  return dirname(path) === path || isOpenToAll(dirname(path))
}
