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

const JSON_COLUMNS = ['metadata', 'filter', 'headers', 'retry', 'fields', 'rateLimit'] as const
const TIMES = [
  'createdAt',
  'updatedAt',
  'disabledAt',
  'failingSince',
  'lastSuccessAt',
  'lastFailureAt',
] as const

type JsonColumn = (typeof JSON_COLUMNS)[number]

/** A row as it is read: JSON is text. */
export type StoredRow<Row> = {
  [Name in keyof Row]: Name extends JsonColumn ? string | null : Row[Name]
}

export type WebhookRow = StoredRow<StoredWebhook>

// oxlint-disable-next-line typescript/no-explicit-any -- the column says what it holds
export const parsed = (json: string | null): any => (json === null ? null : JSON.parse(json))

/** A host may have set parsers in pg that turn timestamps into something else than dates. */
export const asWebhook = (row: WebhookRow): StoredWebhook => ({
  ...row,
  ...(Object.fromEntries([
    ...JSON_COLUMNS.map((name) => [name, parsed(row[name])]),
    ...TIMES.map((name) => [name, row[name] && new Date(row[name]).toISOString()]),
  ]) as Pick<StoredWebhook, JsonColumn | (typeof TIMES)[number]>),
})
