import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** What a process was started with; empty if there is none of that number. */
export async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readProc(pid, 'cmdline').replaceAll('\0', ' ')
  const ps = promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)])
  return ps.then(({ stdout }) => stdout).catch(() => '')
}

/** The process that started a process, or the one that adopted it; 0 if there is none. */
export function parentOf(pid: number): number {
  if (pid === process.pid) return process.ppid
  // The name of the program comes before, in parentheses, and may hold anything.
  const fields = readProc(pid, 'stat').split(') ').at(-1)?.split(' ')
  return Number(fields?.[1] ?? 0)
}

/** Empty where the process has ended, and on systems without /proc. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
