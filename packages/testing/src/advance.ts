import type { FastifyInstance } from 'fastify'
import { InvalidOption } from '@svc/core'
import { hostUnderTest } from '@svc/core/internal'

/**
 * Lets `seconds` pass: what would be due by then is due now. Times in the rows are set back, and
 * so is what this process remembers. No clock is changed, and no old data is deleted. Resolves when
 * what follows from the time itself has been published, such as `svc.key.expired`; `drain` waits for
 * the rest.
 *
 * @throws InvalidOption
 * @example
 * await advance(app, 3600) // the retry is due
 * await drain(app)
 */
export async function advance(app: FastifyInstance, seconds: number): Promise<void> {
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new InvalidOption(`advance: seconds must be a number above 0, got ${String(seconds)}`)
  }
  const host = await hostUnderTest(app, 'advance')
  const { advancedSeconds, timeShifts } = host
  for (const shift of timeShifts) await shift.written?.()
  await host.transaction(async (db) => {
    for (const shift of timeShifts) await shift.rows?.(db, seconds, advancedSeconds)
  })
  host.advancedSeconds += seconds
  for (const shift of timeShifts) await shift.memory?.(seconds)
  await host.runTasks()
  host.wakeAll()
}
