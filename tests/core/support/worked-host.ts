/** A host with a queue of its own, whose jobs are done, or die where a test asks for that. */
import type { Core, Worker } from '@svc/core/internal'
import type { Test } from 'tap'
import { startHost, type Host } from './host.ts'
import { testWorker, type TestWorker } from './worker.ts'

export interface WorkedHost extends Host {
  worker: TestWorker
  queues: Core['queues']
}

export interface WorkedHostOptions {
  isDying?: () => boolean
  enabled?: boolean
  maxAttempts?: number
  recordDiscarded?: NonNullable<Worker['recovery']>['recordDiscarded']
}

export async function startWorkedHost(
  t: Test,
  { isDying = () => false, recordDiscarded, ...options }: WorkedHostOptions = {},
): Promise<WorkedHost> {
  let worker: TestWorker | undefined
  const host = await startHost(t, {
    core: { worker: options },
    setUp: async (_app, core) => {
      worker = await testWorker(
        core,
        () =>
          isDying() ? { kind: 'rejected', output: { why: 'told to' } } : { kind: 'completed' },
        recordDiscarded ? { recordDiscarded } : {},
      )
    },
  })
  return { ...host, worker: worker as TestWorker, queues: host.core.queues }
}

export const namesOf = (jobs: { data: { eventId: string } }[]): string[] =>
  jobs.map(({ data }) => data.eventId).toSorted()
