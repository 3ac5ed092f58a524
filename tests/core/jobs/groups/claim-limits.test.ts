import t from 'tap'
import { claimLimits } from '../../../../packages/core/src/jobs/groups/claim-limits.ts'
import { GroupLimits } from '../../../../packages/core/src/jobs/groups/group-limits.ts'
import { GroupStates } from '../../../../packages/core/src/jobs/groups/group-states.ts'
import type { JobGroup } from '../../../../packages/core/src/jobs/pg-boss/groups-table.ts'
import { groupRow } from './group-row.ts'

const WINDOWS = { first: 192, retry: 64 }

function limitsOf(
  rows: JobGroup[],
  { inFlight = {}, retry = 64 }: { inFlight?: Record<string, number>; retry?: number } = {},
) {
  const states = new GroupStates()
  states.apply(rows, true)
  const limits = new GroupLimits(WINDOWS)
  for (const [group, count] of Object.entries(inFlight)) {
    for (let n = 0; n < count; n++) limits.begin(group, 0)
    // They answer within 10 ms.
    limits.begin(group, 0)
    limits.ended(group, true, 10, 0)
  }
  return claimLimits(states, limits, WINDOWS, { retry, first: 0 }, 0)
}

t.test('of a restricted group no more is asked for than may run at a time', async (t) => {
  const row = (maxInFlight: number | null) => groupRow('a', { restricted: true, maxInFlight })
  const inFlight = { a: 2 }
  t.same(limitsOf([row(5)], { inFlight }), [{ group: 'a', limit: 3, isRestricted: true }])
  t.same(limitsOf([row(2)], { inFlight }), [], 'none while all of them run here')
  t.same(limitsOf([row(1)]), [{ group: 'a', limit: 1, isRestricted: true }])
  t.same(limitsOf([row(null)], { inFlight, retry: 7 }), [
    { group: 'a', limit: 7, isRestricted: true },
  ])
})

t.test('restricted groups share the room with the others', async (t) => {
  const rows = [
    groupRow('a', { restricted: true, maxInFlight: 1 }),
    groupRow('b', { restricted: true, circuitOpen: true, maxInFlight: 100 }),
    groupRow('c', { circuitOpen: true }),
  ]
  t.same(limitsOf(rows, { inFlight: { c: 1 } }), [
    { group: 'b', limit: 8, isRestricted: true },
    { group: 'c', limit: 7, isRestricted: false },
    { group: 'a', limit: 1, isRestricted: true },
  ])
})
