/** One attempt with its span and its metrics. */
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
    attempt.end({ outcome: nameOf(job, outcome), ...described.end(outcome) })
    return outcome
  } catch (error) {
    const { message } = error as Error
    const failure = { type: errorTypeOf(error), message, thrown: error }
    attempt.end({
      outcome: job.isLastAttempt ? 'dead' : 'failed',
      error: failure,
      durationMs: null,
    })
    throw error
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
