/** The gauges of the queues, the periodic tasks and the pauses, read together once for each collection of metrics. */
import type { QueueCount } from '../jobs/pg-boss/queue-counts-table.ts'
import type { Observation } from '../telemetry/instruments.ts'

export const GAUGES = [
  {
    name: 'svc.queue.waiting',
    unit: '{job}',
    description: 'Jobs in the database that have not begun, of all processes.',
  },
  {
    name: 'svc.queue.active',
    unit: '{job}',
    description: 'Jobs in the database that some process is working on.',
  },
  {
    name: 'svc.queue.oldest_waiting',
    unit: 's',
    description: 'For how long the job has been due that is due the longest.',
  },
  { name: 'svc.queue.dead', unit: '{job}', description: 'Dead letters in the database.' },
  {
    name: 'svc.queue.in_flight',
    unit: '{attempt}',
    description: 'Attempts that this process is making.',
  },
  {
    name: 'svc.task.failures',
    unit: '{run}',
    description: 'How many runs of a periodic task of this process have failed, one after another.',
  },
  {
    name: 'svc.paused',
    unit: '{pause}',
    description: 'What an operator has stopped, by its scope: all, tenant or subscription.',
  },
]

interface Measured {
  counts: () => Promise<QueueCount[]>
  pauses: () => Promise<readonly { scope: string }[]>
  inFlight: [queue: string, attempts: number][]
  failures: [task: string, failures: number][]
}

/** In the order of the gauges. Where Postgres does not answer, those that it counts have no points. */
export async function observations(measured: Measured): Promise<Observation[][]> {
  const [queues, pauses] = await Promise.all([
    measured.counts().catch(() => []),
    measured.pauses().catch(() => null),
  ])
  const queueGauge = (name: 'waiting' | 'active' | 'oldestSeconds' | 'dead') =>
    queues.map((one): Observation => [one[name], { 'svc.queue.name': one.queue }])
  const scopes = pauses === null ? [] : ['all', 'tenant', 'subscription']
  return [
    queueGauge('waiting'),
    queueGauge('active'),
    queueGauge('oldestSeconds'),
    queueGauge('dead'),
    measured.inFlight.map(([queue, attempts]) => [attempts, { 'svc.queue.name': queue }]),
    measured.failures.map(([task, count]) => [count, { 'svc.task.name': task }]),
    scopes.map((scope) => [
      (pauses ?? []).filter((one) => one.scope === scope).length,
      { 'svc.paused.scope': scope },
    ]),
  ]
}
