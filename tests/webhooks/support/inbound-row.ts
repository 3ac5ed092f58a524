import type { NewInboundRow } from '../../../packages/webhooks/src/tables/inbound-log.ts'

/** A row of a moment: a UUIDv7 begins with its milliseconds. */
export function rowAt(ms: number, changes: Partial<NewInboundRow> = {}): NewInboundRow {
  const hex = ms.toString(16).padStart(12, '0')
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`,
    source: 'a',
    tenant: null,
    outcome: 'accepted',
    reason: null,
    events: [],
    eventIds: [],
    ip: null,
    bytes: 0,
    durationMs: 0,
    url: null,
    headers: null,
    body: null,
    verified: true,
    eventNames: null,
    requestParts: null,
    ...changes,
  }
}
