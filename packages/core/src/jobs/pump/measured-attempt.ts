/** One attempt with its span and its metrics. An attempt that the process gave up counts in none. */
import type { AttemptEnd, AttemptTelemetry } from '../../telemetry/attempt-telemetry.ts'
import { errorTypeOf } from '../../telemetry/metrics.ts'
import type { Job } from '../job.ts'
import { isLastOf, type Outcome, type Worker } from '../worker.ts'

export async function measured<Data, Prepared, Detail>(
  telemetry: AttemptTelemetry,
  worker: Pick<Worker<Data, Prepared, Detail>, 'queue' | 'perform' | 'telemetry'>,
  job: Job<Data>,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<Outcome<Detail>> {
  const described = worker.telemetry
  if (!described) return worker.perform(job, prepared, signal)
  const start = described.start(job, prepared)
  const attempt = telemetry.begin({ queue: worker.queue, ...start })
  job.traceContext = attempt.traceContext
  try {
    const outcome = await attempt.run(() => worker.perform(job, prepared, signal))
    const end = { outcome: nameOf(job, outcome), ...described.end(outcome) }
    attempt.end(signal.aborted ? GIVEN_UP : end)
    return outcome
  } catch (error) {
    attempt.end(signal.aborted ? GIVEN_UP : failureOf(job, error))
    throw error
  }
}

/** The process closes: the job waits for another one, and no attempt is used up. */
const GIVEN_UP: AttemptEnd = { outcome: null, error: null, durationMs: null }

function failureOf(job: Job, thrown: unknown): AttemptEnd {
  const { message } = thrown as Error
  return {
    outcome: job.attemptsLeft === 0 ? 'dead' : 'failed',
    error: { type: errorTypeOf(thrown), message, thrown },
    durationMs: null,
  }
}

function nameOf(job: Job, outcome: Outcome): AttemptEnd['outcome'] {
  switch (outcome.kind) {
    case 'failed':
      return isLastOf(job, outcome) ? 'dead' : 'failed'
    case 'rejected':
      return 'dead'
    case 'postponed':
    case 'parked':
      return null
    default:
      return outcome.kind
  }
}
