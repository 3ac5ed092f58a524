import t from 'tap'
import { claimLimits } from '../../../../packages/core/src/jobs/recipients/claim-limits.ts'
import { RecipientLimits } from '../../../../packages/core/src/jobs/recipients/recipient-limits.ts'
import { RecipientStates } from '../../../../packages/core/src/jobs/recipients/recipient-states.ts'
import type { RecipientRow } from '../../../../packages/core/src/jobs/pg-boss/recipient-states-table.ts'
import { recipientRow } from './recipient-row.ts'

const WINDOWS = { first: 192, retry: 64 }

function limitsOf(
  rows: RecipientRow[],
  { inFlight = {}, retry = 64 }: { inFlight?: Record<string, number>; retry?: number } = {},
) {
  const states = new RecipientStates()
  states.apply(rows, true)
  const limits = new RecipientLimits(WINDOWS)
  for (const [recipient, count] of Object.entries(inFlight)) {
    for (let n = 0; n < count; n++) limits.begin(recipient, 0)
    // They answer within 10 ms.
    limits.begin(recipient, 0)
    limits.ended(recipient, true, 10, 0)
  }
  return claimLimits(states, limits, WINDOWS, { retry, first: 0 }, 0)
}

t.test('of a restricted recipient no more is asked for than may run at a time', async (t) => {
  const row = (maxInFlight: number | null) => recipientRow('a', { restricted: true, maxInFlight })
  const inFlight = { a: 2 }
  t.same(limitsOf([row(5)], { inFlight }), [{ recipient: 'a', limit: 3, isRestricted: true }])
  t.same(limitsOf([row(2)], { inFlight }), [], 'none while all of them run here')
  t.same(limitsOf([row(1)]), [{ recipient: 'a', limit: 1, isRestricted: true }])
  t.same(limitsOf([row(null)], { inFlight, retry: 7 }), [
    { recipient: 'a', limit: 7, isRestricted: true },
  ])
})

t.test('restricted recipients share the room with the others', async (t) => {
  const rows = [
    recipientRow('a', { restricted: true, maxInFlight: 1 }),
    recipientRow('b', { restricted: true, circuitOpen: true, maxInFlight: 100 }),
    recipientRow('c', { circuitOpen: true }),
  ]
  t.same(limitsOf(rows, { inFlight: { c: 1 } }), [
    { recipient: 'b', limit: 8, isRestricted: true },
    { recipient: 'c', limit: 7, isRestricted: false },
    { recipient: 'a', limit: 1, isRestricted: true },
  ])
})
