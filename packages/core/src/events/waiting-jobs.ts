/**
 * The jobs of a publish that wait for a worker. The workers are notified of them after the commit.
 */
import type { Written } from './publish-statement.ts'

export interface WaitingJobs {
  /** The queues with jobs that can be fetched. */
  queues: string[]
  /** The recipients with jobs that wait for what restricts them, by queue. */
  restricted: ReadonlyMap<string, string[]>
}

export function waitingJobsOf({
  queues,
  restricted,
}: Pick<Written, 'queues' | 'restricted'>): WaitingJobs {
  const recipientsOf = new Map<string, Set<string>>()
  for (const { queue, recipient } of restricted) {
    recipientsOf.set(queue, (recipientsOf.get(queue) ?? new Set()).add(recipient))
  }
  return { queues, restricted: new Map([...recipientsOf].map(([queue, of]) => [queue, [...of]])) }
}

export function together(parts: readonly WaitingJobs[]): WaitingJobs {
  const queues = [...new Set(parts.flatMap((part) => part.queues))]
  const restricted = new Map<string, string[]>()
  for (const part of parts) {
    for (const [queue, recipients] of part.restricted) {
      restricted.set(queue, [...new Set([...(restricted.get(queue) ?? []), ...recipients])])
    }
  }
  return { queues, restricted }
}

export const isNothing = ({ queues, restricted }: WaitingJobs): boolean =>
  queues.length === 0 && restricted.size === 0
