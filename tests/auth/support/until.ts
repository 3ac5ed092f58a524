import { setTimeout as pause } from 'node:timers/promises'

/** Waits until something holds; the time limit of the test ends what never does. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await pause(10)
}
