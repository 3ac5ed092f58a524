import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Answer, Methods } from './serve.ts'

/** A process of its own that is called like an object. */
export interface Process<Served extends Methods> {
  readonly pid: number
  call<Name extends keyof Served & string>(
    method: Name,
    ...args: Parameters<Served[Name]>
  ): Promise<Awaited<ReturnType<Served[Name]>>>
  stop(): Promise<void>
}

interface Waiting {
  resolve(result: never): void
  reject(error: Error): void
}

/** Where the CPU profiles of the processes go; nowhere unless it is set. */
export const profiling: { folder?: string } = {}

const SECONDS_TO_END = 20

/** Starts a module that calls `serve`. `flags` are Node's. */
export async function startProcess<Served extends Methods>(
  module: URL,
  flags: string[] = [],
): Promise<Process<Served>> {
  const child = fork(module, {
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning', ...flags, ...profileFlags()],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const name = module.pathname.split('/').at(-1)
  const waiting = new Map<number, Waiting>()
  let calls = 0
  const expectAnswer = <Result>(id: number) =>
    new Promise<Result>((resolve, reject) => waiting.set(id, { resolve, reject }))
  const ready = expectAnswer<void>(0)
  child.on('message', (answer: Answer) => {
    const call = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('error' in answer) call?.reject(new Error(`${name}: ${answer.error}`))
    else call?.resolve(answer.result as never)
  })
  child.on('exit', (code, signal) => {
    const error = new Error(`${name} ended too early (${signal ?? code})`)
    for (const call of waiting.values()) call.reject(error)
  })
  await ready

  return {
    pid: child.pid ?? 0,
    call(method, ...args) {
      const id = ++calls
      const answered = expectAnswer<never>(id)
      child.send({ id, method, args })
      return answered
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      const late = setTimeout(() => child.kill('SIGKILL'), SECONDS_TO_END * 1000)
      waiting.clear()
      child.disconnect()
      await ended
      clearTimeout(late)
    },
  }
}

const profileFlags = (): string[] =>
  profiling.folder ? ['--cpu-prof', `--cpu-prof-dir=${profiling.folder}`] : []
