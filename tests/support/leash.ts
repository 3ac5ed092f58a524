// Runs a command in a process group of its own, and ends the whole group when the owner of this
// process dies without a word: file descriptor 3 is a pipe whose other end only the owner has.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'

new Socket({ fd: 3 }).on('close', () => process.kill(-process.pid, 'SIGKILL')).resume()

// A signal for the group is the command's to answer; its end is ours.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const [command, ...args] = process.argv.slice(2)
const child = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit'] })
const [code] = (await once(child, 'exit')) as [number | null]
process.exit(code ?? 1)
