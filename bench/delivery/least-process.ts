/**
 * The least that one can write by hand for a durable delivery: one insert, one POST, one update. No
 * retries, no signature, no log, no fan-out.
 */
import pg from 'pg'
import { Pool } from 'undici'
import { serve } from '../process.ts'
import { atRate, payloadOf, withMostInFlight } from '../traffic.ts'

const CONNECTIONS = 10
let database: pg.Pool
let receiver: Pool
let path = ''
let statements = 0

const methods = {
  async start(connectionString: string, url: string): Promise<void> {
    database = new pg.Pool({ connectionString, max: CONNECTIONS })
    await database.query(
      `create table if not exists deliveries (
         id bigint generated always as identity primary key, event text, payload text,
         created_at timestamptz default now(), delivered_at timestamptz)`,
    )
    const { origin, pathname } = new URL(url)
    receiver = new Pool(origin, { connections: 64 })
    path = pathname
  },
  publish: (count: number, callers: number) => withMostInFlight(count, callers, deliver),
  publishAtRate: (rate: number, seconds: number) => atRate({ rate, seconds }, deliver),
  statements: () => statements,
  async stop(): Promise<void> {
    await receiver?.close()
    await database?.end()
  },
}
export type LeastMethods = typeof methods
serve(methods)

async function deliver(index: number): Promise<void> {
  const payload = payloadOf(index)
  statements += 2
  const { rows } = await database.query({
    name: 'insert',
    text: 'insert into deliveries (event, payload) values ($1, $2) returning id',
    values: ['order.created', JSON.stringify(payload)],
  })
  const { id } = rows[0] as { id: string }
  const answer = await receiver.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'order.created', payload, deliveryId: id }),
  })
  await answer.body.dump()
  await database.query({
    name: 'update',
    text: 'update deliveries set delivered_at = now() where id = $1',
    values: [id],
  })
}
