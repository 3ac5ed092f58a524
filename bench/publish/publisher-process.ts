/** Publishes and delivers nothing: our events on one side, pg-boss alone on the other. */
import Fastify, { type FastifyInstance } from 'fastify'
import { PgBoss } from 'pg-boss'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import { payloadOf } from '../delivery/payload.ts'
import { withMostInFlight } from '../load/paced.ts'
import { now } from '../measure/clock.ts'
import { serve } from '../processes/serve.ts'
import { CountingClient } from './counting-client.ts'

/** Nobody wants the first; one webhook wants the second. */
export const UNWANTED = 'order.ignored'
export const WANTED = 'order.created'
const QUEUE = 'bare'
const BATCH = 1000

let app: FastifyInstance
let boss: PgBoss
let url: string

const methods = {
  async start(database: string): Promise<void> {
    url = database
    app = Fastify()
    await app.register(svcCore, { database, worker: { enabled: false } })
    await app.register(svcWebhooks, {
      allowedEvents: [UNWANTED, WANTED],
      allowedNetworks: ['127.0.0.0/8'],
    })
    await app.ready()
    await app.svc.actions.call('__svc.webhooks.register', {
      url: 'http://127.0.0.1:9/',
      events: [WANTED],
    })
    boss = new PgBoss({ connectionString: database, schema: 'bare', supervise: false })
    boss.on('error', (error) => console.error(error))
    await boss.start()
    await boss.createQueue(QUEUE, { partition: true })
  },
  /** Events a second, each promise kept by a commit. */
  publish: (event: string, count: number, inFlight: number): Promise<number> =>
    perSecond(count, () =>
      withMostInFlight(count, inFlight, (index) => app.svc.events.publish(event, payloadOf(index))),
    ),
  /** Jobs a second, in batches of a thousand. */
  insert: (count: number, batchesInFlight: number): Promise<number> =>
    perSecond(count, () =>
      withMostInFlight(count / BATCH, batchesInFlight, () =>
        boss.insert(
          QUEUE,
          Array.from({ length: BATCH }, (_, index) => ({ data: payloadOf(index) })),
        ),
      ),
    ),
  /** Transactions a second of one caller, and the round trips that each takes beside begin and commit. */
  async withinTransactions(
    count: number,
    contender: 'publish' | 'inserts',
  ): Promise<{ perSecond: number; roundTrips: number }> {
    const client = new CountingClient(url)
    await client.connect()
    const rate = await perSecond(count, async () => {
      for (let i = 0; i < count; i++) {
        await client.query('begin')
        if (contender === 'publish') {
          await app.svc.events.publish(WANTED, payloadOf(i), { db: client })
        } else await insertByHand(client, i)
        await client.query('commit')
      }
    })
    await client.end()
    return { perSecond: rate, roundTrips: client.queries / count - 2 }
  },
  async empty(): Promise<void> {
    await app.svc.database.query('truncate svc."__svc.events"')
    await app.svc.jobs.deleteAllJobs('__svc.webhooks.deliver')
    await boss.deleteAllJobs(QUEUE)
  },
  async stop(): Promise<void> {
    await boss.stop()
    await app.close()
  },
}
export type PublisherMethods = typeof methods
serve(methods)

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = now()
  await work()
  return count / ((now() - startedAt) / 1000)
}

/** The least that an event with one delivery needs: the event's row, and the job's. */
async function insertByHand(client: CountingClient, index: number): Promise<void> {
  await client.query(
    `insert into svc."__svc.events" (name, id, payload) values ($1, gen_random_uuid()::text, $2)`,
    [WANTED, JSON.stringify(payloadOf(index))],
  )
  await boss.insert(QUEUE, [{ data: { index } }], {
    db: { executeSql: (text, values) => client.query(text, values) },
  })
}
