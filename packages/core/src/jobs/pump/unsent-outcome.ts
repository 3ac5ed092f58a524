/** The outcome of an attempt that could not be made, for a reason of the host. */
import type { FanOutJob } from '../job.ts'
import type { Outcome } from '../worker.ts'

const AT_LEAST_MS = 1000
const AT_MOST_MS = 5 * 60_000
const FOR_MS = 7 * 24 * 3600_000

/**
 * The job waits again, and no attempt is used up: as long as that has been so, up to five minutes. What
 * never works would wait for ever: after a week an attempt counts as failed, with the detail `after`.
 */
export function unsentOutcome<Detail extends object>(
  { data }: { data: Pick<FanOutJob, 'unsentSince'> },
  after: Detail,
  detail?: Detail,
): Outcome<Detail> {
  const { unsentSince } = data
  const sinceMs = unsentSince === undefined ? 0 : Date.now() - Date.parse(unsentSince)
  const isUnsent = true
  if (sinceMs > FOR_MS) return { kind: 'failed', detail: after, output: after, isUnsent }
  const pauseMs = Math.min(AT_MOST_MS, Math.max(AT_LEAST_MS, sinceMs))
  const delayMs = pauseMs * (0.9 + Math.random() * 0.2)
  return { kind: 'postponed', delayMs, isUnsent, ...(detail === undefined ? {} : { detail }) }
}
