/** The processes of a cluster: all those that run in its folder, whoever started them. */
import { readdirSync, readlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

export function processesIn(folder: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => {
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)
    } catch {
      // It has ended, or is another user's.
      return false
    }
  })
}

export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended meanwhile.
    }
  }
}

/** `node processes.ts <folder>`: ends them when the one who has started this process is done, or dead. */
if (process.argv[1] === import.meta.filename) {
  const folder = process.argv[2]!
  process.stdin.resume().once('close', () => void end())
  async function end(): Promise<never> {
    for (let left = processesIn(folder); left.length > 0; left = processesIn(folder)) {
      signal(left, 'SIGKILL')
      await setTimeout(50)
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    process.exit()
  }
}
