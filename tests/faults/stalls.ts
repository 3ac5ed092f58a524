/** Notes when this process had no turn: what it received then has the time of its next turn. */
import type { Test } from 'tap'
import type { Ledger } from './ledger.ts'

const LOOK_MS = 50
const STALL_MS = 250

export function watchStalls(t: Test, { disturbances }: Ledger): void {
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    if (now - last > STALL_MS) disturbances.push({ kind: 'stall', from: last, until: now })
    last = now
  }, LOOK_MS)
  t.teardown(() => clearInterval(timer))
}
