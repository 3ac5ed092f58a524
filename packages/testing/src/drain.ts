import type { FastifyInstance } from 'fastify'
import { NotDrained } from '@svc/core'
import { hostUnderTest, pause } from '@svc/core/internal'
import { timeoutOf } from './timeout.ts'

/** Options of `drain`. */
export interface DrainOptions {
  /** @default 10000, or SVC_TESTING_TIMEOUT_MS of the environment */
  timeoutMs?: number | undefined
}

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 50

/**
 * Resolves when every event, delivery and subscription that is due now is settled: handled,
 * delivered, dead, or waiting for a retry that is due later. Deliveries of webhooks that are not
 * active are not due.
 *
 * @throws NotDrained naming what still waits when the time is up, InvalidOption
 * @example
 * await app.svc.events.publish('order.created', { id: 7 })
 * await drain(app)
 */
export async function drain(app: FastifyInstance, options: DrainOptions = {}): Promise<void> {
  const timeoutMs = timeoutOf('drain', options)
  const host = await hostUnderTest(app, 'drain')
  const until = performance.now() + timeoutMs
  await host.published()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
    if (!(await host.isBusy())) return
    if (performance.now() > until) {
      const due = await host.describeDue()
      // What was left may have been settled between the two looks.
      if (due === null) return
      throw new NotDrained(timeoutMs, due)
    }
    host.wakeAll()
    await pause(pauseMs)
  }
}
