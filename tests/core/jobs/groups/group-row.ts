import type { JobGroup } from '../../../../packages/core/src/jobs/pg-boss/groups-table.ts'

/** A row of the table of groups. */
export const groupRow = (group: string, state: Partial<JobGroup> = {}): JobGroup => ({
  group,
  held: false,
  circuitOpen: false,
  changedBy: 'one',
  restricted: false,
  rateSeconds: null,
  maxInFlight: null,
  ordered: false,
  ...state,
})
