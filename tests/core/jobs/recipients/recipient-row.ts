import type { RecipientRow } from '../../../../packages/core/src/jobs/pg-boss/recipient-states-table.ts'

/** A row of the table of recipients. */
export const recipientRow = (
  recipient: string,
  state: Partial<RecipientRow> = {},
): RecipientRow => ({
  recipient,
  held: false,
  circuitOpen: false,
  changedBy: 'one',
  restricted: false,
  rateSeconds: null,
  maxInFlight: null,
  ordered: false,
  ...state,
})
