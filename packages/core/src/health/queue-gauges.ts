/** The gauges of the queues, the periodic tasks and the pauses, read together once for each collection of metrics. */
import type { QueueCount } from '../jobs/pg-boss/queue-counts-table.ts'
import type { BatchObservableCallback, Meter } from '../telemetry/instruments.ts'

interface Measured {
  counts: () => Promise<QueueCount[]>
  pauses: () => Promise<readonly { scope: string }[]>
  inFlight: [queue: string, attempts: number][]
  failures: [task: string, failures: number][]
}

/** Where Postgres does not answer, the gauges that it counts have no points. Returns what ends them. */
export function observeGauges(meter: Meter, measured: () => Measured): () => void {
  const counted = {
    waiting: meter.createObservableGauge('svc.queue.waiting', {
      unit: '{job}',
      description: 'Jobs in the database that have not begun, of all processes.',
    }),
    active: meter.createObservableGauge('svc.queue.active', {
      unit: '{job}',
      description: 'Jobs in the database that some process is working on.',
    }),
    oldestSeconds: meter.createObservableGauge('svc.queue.oldest_waiting', {
      unit: 's',
      description: 'For how long the job has been due that is due the longest.',
    }),
    dead: meter.createObservableGauge('svc.queue.dead', {
      unit: '{job}',
      description: 'Dead letters in the database.',
    }),
  }
  const inFlight = meter.createObservableGauge('svc.queue.in_flight', {
    unit: '{attempt}',
    description: 'Attempts that this process is making.',
  })
  const failures = meter.createObservableGauge('svc.task.failures', {
    unit: '{run}',
    description: 'How many runs of a periodic task of this process have failed, one after another.',
  })
  const paused = meter.createObservableGauge('svc.paused', {
    unit: '{pause}',
    description: 'What an operator has stopped, by its scope: all, tenant or subscription.',
  })
  const observe: BatchObservableCallback = async (result) => {
    const now = measured()
    const [queues, pauses] = await Promise.all([
      now.counts().catch(() => []),
      now.pauses().catch(() => null),
    ])
    for (const { queue, ...its } of queues) {
      const about = { 'svc.queue.name': queue }
      result.observe(counted.waiting, its.waiting, about)
      result.observe(counted.active, its.active, about)
      result.observe(counted.oldestSeconds, its.oldestSeconds, about)
      result.observe(counted.dead, its.dead, about)
    }
    for (const [queue, attempts] of now.inFlight) {
      result.observe(inFlight, attempts, { 'svc.queue.name': queue })
    }
    for (const [task, count] of now.failures) {
      result.observe(failures, count, { 'svc.task.name': task })
    }
    for (const scope of pauses === null ? [] : ['all', 'tenant', 'subscription']) {
      const count = pauses?.filter((one) => one.scope === scope).length ?? 0
      result.observe(paused, count, { 'svc.paused.scope': scope })
    }
  }
  const all = [...Object.values(counted), inFlight, failures, paused]
  meter.addBatchObservableCallback(observe, all)
  return () => meter.removeBatchObservableCallback(observe, all)
}
