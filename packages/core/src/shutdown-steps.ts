/** Closes what a host has started, one step after the other. */
import { loggable } from './postgres/loggable-error.ts'

export type ShutdownStep = [name: string, run: () => unknown]

/** A step that fails is logged, and the next ones still run. */
export async function shutDown(
  steps: readonly ShutdownStep[],
  log: { error(details: object, message: string): void },
): Promise<void> {
  for (const [step, run] of steps) {
    try {
      await run()
    } catch (error) {
      log.error({ err: loggable(error), step }, 'shutdown step failed')
    }
  }
}
