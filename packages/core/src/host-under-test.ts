import type { FastifyInstance } from 'fastify'
import { coreOf } from './core-of.ts'
import type { Job } from './jobs/job.ts'
import type { TimeShift } from './time-shifts.ts'
import { InvalidOption } from './errors.ts'
import type { Db } from './postgres/transaction.ts'

export interface HostUnderTest {
  /** Whether an event, a delivery or work on many of them is due and not settled. */
  isBusy(): Promise<boolean>
  /** What that is, for a message; `null` where there is nothing. */
  describeDue(): Promise<string | null>
  timeShifts: readonly TimeShift[]
  /** How many seconds `advance` has set times back. */
  advancedSeconds: number
  /** Publishes that were not awaited are committed or refused. */
  published(): Promise<void>
  wakeAll(): void
  /** Runs each periodic task once; these runs begin after the call. */
  runTasks(): Promise<void>
  /** Settles these active jobs of a queue as if their process had died. */
  settleLost: (queue: string, jobs: Job[]) => Promise<boolean>
  transaction<T>(run: (db: Db) => Promise<T>): Promise<T>
}

/** Boots the host where that has not been done. @throws InvalidOption */
export async function hostUnderTest(app: FastifyInstance, caller: string): Promise<HostUnderTest> {
  if (typeof app?.ready !== 'function') {
    throw new InvalidOption(`${caller} takes a Fastify instance with svcCore as its first argument`)
  }
  await app.ready()
  const core = coreOf(app)
  if (core) return core.underTest
  throw new InvalidOption(
    `${caller}: this instance has no svcCore: pass the one that svcCore, svcAuth or svcWebhooks is registered on`,
  )
}
