/** Processes that are called like objects: `startProcess` in the parent, `serve` in the child. */
import { fork } from 'node:child_process'
import { once } from 'node:events'

export type Methods = Record<string, (...args: never[]) => unknown>

export interface Process<Served extends Methods> {
  call<Name extends keyof Served & string>(
    method: Name,
    ...args: Parameters<Served[Name]>
  ): Promise<Awaited<ReturnType<Served[Name]>>>
  /** CPU time of all its threads, in µs: the compiler and the garbage collector are included. */
  cpu: () => Promise<number>
  rssMegabytes: () => Promise<number>
  stop(): Promise<void>
  /** With SIGKILL. */
  kill(): Promise<void>
}

interface Call {
  id: number
  method: string
  args: never[]
}

type Answer = { id: number; result: unknown } | { id: number; error: string }

/** Where processes write CPU profiles, if set. */
export const profiling: { folder?: string } = {}

const SECONDS_TO_END = 20
const SECONDS_TO_STOP = 10

/** Starts a module that calls `serve`. `flags` are those of Node. */
export async function startProcess<Served extends Methods>(
  module: URL,
  flags: string[] = [],
): Promise<Process<Served>> {
  const { folder } = profiling
  const profile = folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : []
  const child = fork(module, {
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning', ...flags, ...profile],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const name = module.pathname.split('/').at(-1)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let calls = 0
  const answerTo = (id: number): Promise<never> => {
    const answer = Promise.withResolvers<unknown>()
    waiting.set(id, answer)
    return answer.promise as Promise<never>
  }
  const request = (method: string, args: unknown[] = []): Promise<never> => {
    const answer = answerTo(++calls)
    child.send({ id: calls, method, args })
    return answer
  }
  child.on('message', (answer: Answer) => {
    const call = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('error' in answer) call?.reject(new Error(`${name}: ${answer.error}`))
    else call?.resolve(answer.result)
  })
  child.on('exit', (code, signal) => {
    const error = new Error(`${name} ended too early (${signal ?? code})`)
    for (const call of waiting.values()) call.reject(error)
  })
  await answerTo(0)

  return {
    call: (method, ...args) => request(method, args),
    cpu: () => request('cpu'),
    rssMegabytes: () => request('rssMegabytes'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      const late = setTimeout(() => child.kill('SIGKILL'), SECONDS_TO_END * 1000)
      waiting.clear()
      child.disconnect()
      await ended
      clearTimeout(late)
    },
    async kill() {
      waiting.clear()
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Answers the calls of the parent, and ends with it; `stop`, if given, is called before that. */
export function serve(methods: Methods): void {
  const all: Methods = { ...ownUsage, ...methods }
  process.on('message', (call: Call) => void answerCall(all, call))
  process.on('disconnect', () => void end(methods))
  process.send?.({ id: 0, result: null } satisfies Answer)
}

const ownUsage = {
  cpu(): number {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  rssMegabytes: (): number => process.memoryUsage.rss() / 2 ** 20,
}

async function answerCall(methods: Methods, { id, method, args }: Call): Promise<void> {
  let answer: Answer
  try {
    answer = { id, result: await methods[method]?.(...args) }
  } catch (error) {
    answer = { id, error: (error as Error)?.stack ?? String(error) }
  }
  if (process.connected) process.send?.(answer)
}

async function end({ stop }: Methods): Promise<void> {
  setTimeout(() => process.exit(1), SECONDS_TO_STOP * 1000).unref()
  await stop?.()
  process.exit()
}
