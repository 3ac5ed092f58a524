/** Programs of the documentation, run as a reader runs them: copied into a folder of their own. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { startNode } from './start-node.ts'
import { until } from './until.ts'

const TESTS = join(import.meta.dirname, '..')

export interface Program {
  /** All that it printed so far. */
  printed: string
  /** Waits for text that matches; rejects with what was printed if the program ends before. */
  says(what: RegExp): Promise<RegExpExecArray>
  /** Waits until it ends by itself, and returns the exit code. */
  ended(): Promise<number | null>
  /** To its standard input. */
  write(text: string): void
  signal(name: NodeJS.Signals): void
  /** Asks it to end, and returns the exit code. */
  end(): Promise<number | null>
}

/** A folder with these files, which finds what the tests have installed. */
export async function folderOf(t: Test, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-program-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await symlink(join(TESTS, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

export function runProgram(
  t: Test,
  folder: string,
  name: string,
  environment: Record<string, string>,
  ...options: string[]
): Program {
  // A program in CommonJS requires our TypeScript.
  const isMeasured = name.endsWith('.cjs') ? false : undefined
  const child = startNode(
    [name, ...options],
    { cwd: folder, env: { PATH: process.env['PATH']!, ...environment } },
    isMeasured,
  )
  const exited = once(child, 'close') as Promise<[number | null]>
  // Not at its exit: what it printed last may not have been read then.
  let hasEnded = false
  child.once('close', () => (hasEnded = true))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const program: Program = {
    printed: '',
    says: (what) =>
      until(() => {
        const found = what.exec(program.printed)
        if (!found && hasEnded) throw new Error(`${name} ended:\n${program.printed}`)
        return found
      }) as Promise<RegExpExecArray>,
    async ended() {
      const [code] = await exited
      return code
    },
    write: (text) => void child.stdin.write(text),
    signal: (name) => void child.kill(name),
    end() {
      child.kill('SIGTERM')
      return program.ended()
    },
  }
  const hear = (bytes: Buffer) => void (program.printed += bytes.toString())
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return program
}

/** Not one of those that systems hand out: no other test is given it before the program listens. */
export async function freePort(): Promise<string> {
  const port = randomInt(15_000, 30_000)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return String(port)
}
