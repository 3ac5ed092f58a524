/** What a developer writes who has pg-boss and no webhooks plugin: `send`, and `work` with `fetch`. */
import { PgBoss, type Job } from 'pg-boss'
import { atRate, withMostInFlight } from '../load/paced.ts'
import { now } from '../measure/clock.ts'
import { serve } from '../processes/serve.ts'
import { usageOfThisProcess } from '../processes/usage.ts'
import { payloadOf, type Payload } from './payload.ts'

export interface WorkOptions {
  database: string
  url: string
  /** Wakes by NOTIFY at each insert. */
  notify: boolean
  batchSize: number
  /** Goes on at once after a full batch. */
  burst: boolean
  pollingIntervalSeconds: number
  /** Workers that take turns on the queue. */
  workers: number
}

const QUEUE = 'deliveries'
let boss: PgBoss

const methods = {
  async start(options: WorkOptions): Promise<void> {
    boss = new PgBoss({ connectionString: options.database, useListenNotify: options.notify })
    boss.on('error', (error) => console.error(error))
    await boss.start()
    await boss.createQueue(QUEUE, { notify: options.notify })
    await boss.work<Payload>(
      QUEUE,
      {
        batchSize: options.batchSize,
        burstWhenBatchFull: options.burst,
        pollingIntervalSeconds: options.pollingIntervalSeconds,
        localConcurrency: options.workers,
      },
      async (jobs) => void (await Promise.all(jobs.map((job) => deliver(options.url, job)))),
    )
  },
  async publish(count: number, inFlight: number): Promise<{ startedAt: number }> {
    const startedAt = now()
    await withMostInFlight(count, inFlight, (index) => boss.send(QUEUE, payloadOf(index)))
    return { startedAt }
  },
  publishAtRate: (rate: number, seconds: number): Promise<void> =>
    atRate({ rate, seconds }, (index) => boss.send(QUEUE, payloadOf(index))),
  usage: usageOfThisProcess,
  stop: () => boss?.stop({ graceful: true, timeout: 5000 }),
}
export type BossWorkMethods = typeof methods
serve(methods)

async function deliver(url: string, job: Job<Payload>): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'order.created', payload: job.data, deliveryId: job.id }),
  })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`answered ${answer.status}`)
}
