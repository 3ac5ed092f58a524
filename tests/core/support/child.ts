/** Another process, of which a test hears line by line. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'

export interface Child {
  lines: string[]
  kill(signal: NodeJS.Signals): void
  /** Ends its input: it closes. */
  end(): void
  exited: Promise<{ code: number | null; signal: string | null; complaint: string }>
}

export function startChild(t: Test, script: string, ...args: string[]): Child {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args])
  t.teardown(() => child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  const complaint = text(child.stderr)
  return {
    lines,
    kill: (signal) => void child.kill(signal),
    end: () => void child.stdin.end(),
    exited: once(child, 'close').then(async ([code, signal]) => ({
      code: code as number | null,
      signal: signal as string | null,
      complaint: await complaint,
    })),
  }
}
