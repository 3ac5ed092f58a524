/** A password of the database that rotates: a command prints it, as a function of a host gives it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Less than a connection has: its error does not name the command. */
const LONGEST_MS = 4000
const WORD = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g
const QUOTED = /"([^"]*)"|'([^']*)'/g

/** Runs no shell, and says nothing of what was printed. `undefined` where a quote does not end. */
export function passwordFrom(command: string): (() => Promise<string>) | undefined {
  if (/\S/.test(command.replace(WORD, ''))) return undefined
  const [program = '', ...args] = (command.match(WORD) ?? []).map((word) =>
    word.replace(QUOTED, '$1$2'),
  )
  return async () => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: LONGEST_MS,
    })
    const [printed, [code, signal]] = await Promise.all([
      text(child.stdout),
      once(child, 'close') as Promise<[number | null, string | null]>,
    ])
    if (code === null)
      throw new Error(`it was ended by ${signal}, after at most ${LONGEST_MS / 1000} s`)
    if (code !== 0) throw new Error(`it ended with the exit code ${code}`)
    return printed.replace(/\r?\n$/, '')
  }
}
