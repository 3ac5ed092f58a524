/** POSTs and nothing else: what one process can send at all. */
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { withMostInFlight } from '../load/paced.ts'
import { now } from '../measure/clock.ts'
import { serve } from '../processes/serve.ts'
import { usageOfThisProcess } from '../processes/usage.ts'
import { payloadOf } from './payload.ts'

const CONNECTIONS = 64
let pool: Pool

const methods = {
  start(origin: string): void {
    pool = new Pool(origin, { connections: CONNECTIONS })
  },
  async post(path: string, count: number): Promise<{ startedAt: number }> {
    const startedAt = now()
    const body = JSON.stringify({
      event: 'order.created',
      payload: payloadOf(0),
      deliveryId: randomUUID(),
    })
    await withMostInFlight(count, CONNECTIONS, async () => {
      const answer = await pool.request({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body,
      })
      await answer.body.dump()
    })
    return { startedAt }
  },
  usage: usageOfThisProcess,
  stop: () => pool?.close(),
}
export type BarePostsMethods = typeof methods
serve(methods)
