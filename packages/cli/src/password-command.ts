/** A password of the database that rotates: a command prints it, as a function of a host gives it. */
import { execFile, type ExecFileException } from 'node:child_process'

/** Less than a connection has: its error does not name the command. */
const LONGEST_MS = 4000
const LONGEST_BYTES = 65_536
const WORD = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g
const QUOTED = /"([^"]*)"|'([^']*)'/g

/** Runs no shell, and says nothing of what was printed. `undefined` where it is no command. */
export function passwordFrom(command: string): (() => Promise<string>) | undefined {
  if (/\S/.test(command.replace(WORD, ''))) return undefined
  const [program, ...args] = (command.match(WORD) ?? []).map((word) => word.replace(QUOTED, '$1$2'))
  if (!program) return undefined
  // What is killed may have started others that keep its output open: nothing waits for these.
  const limits = { timeout: LONGEST_MS, killSignal: 'SIGKILL', maxBuffer: LONGEST_BYTES } as const
  return () =>
    new Promise((resolve, reject) => {
      const child = execFile(program, args, limits, (error, printed) => {
        if (error) reject(new Error(reasonOf(error)))
        else resolve(printed.replace(/\r?\n$/, ''))
      })
      child.stdin?.end()
      child.stderr?.pipe(process.stderr)
    })
}

function reasonOf({ code, killed, signal, message }: ExecFileException): string {
  if (typeof code === 'number') return `it ended with the exit code ${code}`
  if (killed) return `it took more than ${LONGEST_MS / 1000} s`
  return signal ? `it was ended by ${signal}` : message
}
