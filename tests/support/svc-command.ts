/** The command `svc`, run as a user runs it: a process of its own. */
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { startNode } from './start-node.ts'
import { until } from './until.ts'

/** The program. */
export const BIN = fileURLToPath(new URL('../../packages/cli/src/svc.ts', import.meta.url))
const ROOT = join(import.meta.dirname, '../..')
/** Most of what a short command costs is to compile what it imports. */
const NODE_COMPILE_CACHE = join(ROOT, '.tap/compile-cache')

export interface Ran {
  exitCode: number | null
  /** The lines of stdout. */
  lines: string[]
  /** Those of stderr. */
  errors: string[]
  /** The whole of stdout. */
  text: string
}

export interface RunningCommand {
  /** All that it has printed so far, on stdout and on stderr. */
  printed: string
  /** Waits for text that matches; rejects with what was printed if the command ends before. */
  says(what: RegExp): Promise<RegExpExecArray>
  /** Ctrl-C. */
  interrupt(): void
  ended: Promise<Ran>
}

export interface Place {
  /** @default a folder in which all packages are installed */
  folder?: string
}

/** Runs the command until it ends. Its environment has nothing of this process but PATH. */
export const svc = (
  t: Pick<Test, 'teardown'>,
  args: readonly string[],
  env: Record<string, string> = {},
  place: Place = {},
): Promise<Ran> => startSvc(t, args, env, place).ended

export function startSvc(
  t: Pick<Test, 'teardown'>,
  args: readonly string[],
  env: Record<string, string> = {},
  { folder = ROOT }: Place = {},
): RunningCommand {
  const child = startNode([BIN, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH']!, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  let hasEnded = false
  const ended = once(child, 'close').then(([exitCode]) => {
    hasEnded = true
    return {
      exitCode: exitCode as number | null,
      lines: linesOf(text.stdout),
      errors: linesOf(text.stderr),
      text: text.stdout,
    }
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const command: RunningCommand = {
    printed: '',
    says: (what) =>
      until(() => {
        const found = what.exec(command.printed)
        if (!found && hasEnded) throw new Error(`svc ${args[0]} ended:\n${command.printed}`)
        return found
      }) as Promise<RegExpExecArray>,
    interrupt: () => void child.kill('SIGINT'),
    ended,
  }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (part: string) => {
      text[stream] += part
      command.printed += part
    })
  }
  return command
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1)
