/** How a row of the table of webhooks is read. */
import type { WebhookWithSecret } from '../schemas.ts'

/** A webhook as its row holds it. */
export type StoredWebhook = Omit<WebhookWithSecret, 'waiting' | 'publicKey'>

/** JSON as text: a host may have set parsers in pg that turn it into something else. */
export const COLUMNS = `id, tenant, url, events, label, active, secret, created_at as "createdAt", updated_at as "updatedAt",
  description, metadata::text as metadata, filter::text as filter, filter_cost as "filterCost", headers::text as headers,
  timeout_ms as "timeoutMs", retry::text as retry, rate_limit::text as "rateLimit",
  max_in_flight as "maxInFlight", ordered, transform, fields::text as fields,
  disabled_at as "disabledAt", disabled_reason as "disabledReason", failing_since as "failingSince",
  last_success_at as "lastSuccessAt", last_failure_at as "lastFailureAt"`

/** A row as it is read: JSON is text. */
export type StoredRow<Row> = Omit<Row, 'headers' | 'retry' | 'fields'> &
  Record<'headers' | 'retry' | 'fields', string | null>

export type WebhookRow = StoredRow<Omit<StoredWebhook, 'metadata' | 'filter' | 'rateLimit'>> &
  Record<'metadata' | 'filter' | 'rateLimit', string | null>

// oxlint-disable-next-line typescript/no-explicit-any -- the column says what it holds
export const parsed = (json: string | null): any => (json === null ? null : JSON.parse(json))

/** A host may have set parsers in pg that turn timestamps into something else than dates. */
export const asWebhook = (row: WebhookRow): StoredWebhook => ({
  ...row,
  createdAt: isoOf(row.createdAt),
  updatedAt: isoOf(row.updatedAt),
  metadata: parsed(row.metadata),
  filter: parsed(row.filter),
  headers: parsed(row.headers),
  retry: parsed(row.retry),
  fields: parsed(row.fields),
  rateLimit: parsed(row.rateLimit),
  disabledAt: row.disabledAt && isoOf(row.disabledAt),
  failingSince: row.failingSince && isoOf(row.failingSince),
  lastSuccessAt: row.lastSuccessAt && isoOf(row.lastSuccessAt),
  lastFailureAt: row.lastFailureAt && isoOf(row.lastFailureAt),
})

const isoOf = (time: string | Date): string => new Date(time).toISOString()
