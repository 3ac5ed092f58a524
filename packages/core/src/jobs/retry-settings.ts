export interface RetrySettings {
  maxAttempts: number
  retryDelaySeconds: number
  retryBackoff: boolean
  retryDelayMaxSeconds: number
}

/** `retry_limit`, `retry_delay`, `retry_backoff` and `retry_delay_max` of a job. */
export const retryColumns = (retry: RetrySettings) => [
  retry.maxAttempts - 1,
  retry.retryDelaySeconds,
  retry.retryBackoff,
  retry.retryDelayMaxSeconds,
]

/** Attempts and delays of the jobs that this process publishes. */
export function retrySettingsOf(worker: RetrySettings): RetrySettings {
  const { maxAttempts, retryDelaySeconds, retryDelayMaxSeconds } = worker
  // If the delay is 0, pg-boss's back-off would wait for a second.
  const retryBackoff = worker.retryBackoff && retryDelaySeconds > 0
  return { maxAttempts, retryDelaySeconds, retryBackoff, retryDelayMaxSeconds }
}
