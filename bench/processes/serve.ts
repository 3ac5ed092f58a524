/** The child's side of a process: answers what its starter calls, and ends with its starter. */
export type Methods = Record<string, (...args: never[]) => unknown>

/** `stop`, where there is one, ends what the process has opened. */
const SECONDS_TO_STOP = 10

export interface Call {
  id: number
  method: string
  args: never[]
}

export type Answer = { id: number; result: unknown } | { id: number; error: string }

export function serve(methods: Methods): void {
  process.on('message', (call: Call) => void answer(methods, call))
  process.on('disconnect', () => void end(methods))
  process.send?.({ id: 0, result: null } satisfies Answer)
}

/** Whoever started this is done, or dead. */
async function end({ stop }: Methods): Promise<void> {
  setTimeout(() => process.exit(1), SECONDS_TO_STOP * 1000).unref()
  await stop?.()
  process.exit()
}

async function answer(methods: Methods, { id, method, args }: Call): Promise<void> {
  try {
    tell({ id, result: await methods[method]?.(...args) })
  } catch (error) {
    tell({ id, error: (error as Error)?.stack ?? String(error) })
  }
}

function tell(said: Answer): void {
  if (process.connected) process.send?.(said)
}
