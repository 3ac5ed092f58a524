import t from 'tap'
import type { Result } from '@svc/core/internal'
import {
  rowsOf,
  type AttemptRecord,
} from '../../../../packages/webhooks/src/outbound/delivery/record-deliveries.ts'
import type { DeliveryJob } from '../../../../packages/webhooks/src/outbound/delivery-queue.ts'

const createdAt = new Date('2030-01-31T12:00:00Z')
const recipient = '00000000-0000-4000-8000-000000000001'
const data = { event: 'order.created', eventId: 'e', recipient, deliveryId: recipient }

const rowOf = (result: Result, attempt: number) => {
  const detail: AttemptRecord = {
    attempt,
    statusCode: 500,
    error: 'http',
    durationMs: 3,
    responseBody: '',
    attemptedAt: new Date(createdAt.getTime() + 250).toISOString(),
  }
  const job = { data, createdAt, attempt } as DeliveryJob
  const outcome = { kind: 'failed' as const, detail, output: detail }
  const [row] = rowsOf({ job, outcome, result })
  return row
}

t.test('the statistics count the first attempt of a delivery once', async (t) => {
  const cases: [Result, number, number | undefined][] = [
    ['completed', 1, 250],
    ['retry', 1, 250],
    ['dead', 1, 250],
    ['retry', 2, undefined],
    // No attempt was used up: the next one has the number 1 again.
    ['postponed', 1, undefined],
    ['parked', 1, undefined],
    ['cancelled', 1, undefined],
  ]
  for (const [result, attempt, expected] of cases) {
    t.equal(rowOf(result, attempt)?.firstAttemptMs, expected, `${result} ${attempt}`)
  }
})
