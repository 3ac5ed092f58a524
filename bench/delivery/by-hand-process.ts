/** What one uses without the plugins: bare POSTs, and pg-boss with `fetch`. */
import { PgBoss, type Job } from 'pg-boss'
import { Pool } from 'undici'
import { serve } from '../process.ts'
import { atRate, now, payloadOf, withMostInFlight, type Payload } from '../traffic.ts'

export interface WorkOptions {
  /** Wake by NOTIFY at each insert, and go on at once after a full batch. */
  fastest: boolean
}

const CONNECTIONS = 64
const QUEUE = 'deliveries'
const BATCH = 1000
let pool: Pool | undefined
let boss: PgBoss | undefined

const methods = {
  openPool(origin: string): void {
    pool = new Pool(origin, { connections: CONNECTIONS })
  },
  async post(path: string, count: number): Promise<{ startedAt: number }> {
    const startedAt = now()
    const body = JSON.stringify({ event: 'order.created', payload: payloadOf(0), deliveryId: '0' })
    await withMostInFlight(count, CONNECTIONS, async () => {
      const headers = { 'content-type': 'application/json' }
      const answer = await pool?.request({ method: 'POST', path, headers, body })
      await answer?.body.dump()
    })
    return { startedAt }
  },

  async openQueue(database: string, { partition = false, notify = false } = {}): Promise<void> {
    boss = new PgBoss({ connectionString: database, useListenNotify: notify })
    boss.on('error', (error) => console.error(error))
    await boss.start()
    await boss.createQueue(QUEUE, { partition, notify })
  },
  /** Jobs a second, inserted in batches of a thousand. */
  async insert(count: number, batchesInFlight: number): Promise<number> {
    const startedAt = now()
    await withMostInFlight(count / BATCH, batchesInFlight, async () => {
      const jobs = Array.from({ length: BATCH }, (_, index) => ({ data: payloadOf(index) }))
      await boss?.insert(QUEUE, jobs)
    })
    return count / ((now() - startedAt) / 1000)
  },
  empty: () => boss?.deleteAllJobs(QUEUE),

  /**
   * A handler of batches, as the first page of pg-boss's documentation suggests, with its shortest
   * poll; or with the fastest settings that it has.
   */
  async work(database: string, url: string, { fastest }: WorkOptions): Promise<void> {
    await methods.openQueue(database, { notify: fastest })
    const options = { batchSize: 100, burstWhenBatchFull: fastest, pollingIntervalSeconds: 0.5 }
    await boss?.work<Payload>(QUEUE, options, async (jobs) => {
      await Promise.all(jobs.map((job) => deliver(url, job)))
    })
  },
  async send(count: number, callers: number): Promise<{ startedAt: number }> {
    const startedAt = now()
    await withMostInFlight(count, callers, async (index) => boss?.send(QUEUE, payloadOf(index)))
    return { startedAt }
  },
  sendAtRate: (rate: number, seconds: number) =>
    atRate({ rate, seconds }, async (index) => boss?.send(QUEUE, payloadOf(index))),

  async stop(): Promise<void> {
    await pool?.close()
    await boss?.stop({ graceful: true, timeout: 5000 })
  },
}
export type ByHandMethods = typeof methods
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
