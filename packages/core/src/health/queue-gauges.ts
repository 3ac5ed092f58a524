/** The gauges of the queues and of the periodic tasks, read together once for each collection of metrics. */
import type { Meter, Observation } from '../telemetry/instruments.ts'
import type { QueueCounts } from './queue-counts.ts'

const GAUGES = [
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
]

/** Returns what ends them. */
export function observeQueues(
  meter: Meter,
  counts: QueueCounts,
  inFlight: () => [queue: string, attempts: number][],
): () => void {
  return meter.gauges(GAUGES, async () => {
    const own = inFlight().map(([queue, attempts]): Observation => [attempts, of(queue)])
    try {
      const queues = await counts.recent()
      const gauge = (name: 'waiting' | 'active' | 'oldestSeconds' | 'dead'): Observation[] =>
        queues.map((one) => [one[name], of(one.queue)])
      return [gauge('waiting'), gauge('active'), gauge('oldestSeconds'), gauge('dead'), own]
    } catch {
      // Postgres does not answer: the gauges that it counts have no points in this collection.
      return [[], [], [], [], own]
    }
  })
}

const of = (queue: string) => ({ 'svc.queue.name': queue })

const TASK_GAUGE = {
  name: 'svc.task.failures',
  unit: '{run}',
  description: 'How many runs of a periodic task of this process have failed, one after another.',
}

/** Returns what ends it. */
export const observeTasks = (
  meter: Meter,
  failures: () => [task: string, failures: number][],
): (() => void) =>
  meter.gauges([TASK_GAUGE], () => [
    failures().map(([task, count]): Observation => [count, { 'svc.task.name': task }]),
  ])

const PAUSE_GAUGE = {
  name: 'svc.paused',
  unit: '{pause}',
  description: 'What an operator has stopped, by its scope: all, tenant or subscription.',
}

/** Returns what ends it. */
export const observePauses = (
  meter: Meter,
  pauses: () => Promise<readonly { scope: string }[]>,
): (() => void) =>
  meter.gauges([PAUSE_GAUGE], async () => {
    try {
      const all = await pauses()
      const count = (scope: string): Observation => [
        all.filter((one) => one.scope === scope).length,
        { 'svc.paused.scope': scope },
      ]
      return [['all', 'tenant', 'subscription'].map(count)]
    } catch {
      // Postgres does not answer.
      return [[]]
    }
  })
