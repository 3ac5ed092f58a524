import type { Db } from '@svc/core'
import type { SettingsInput } from '../settings-schemas.ts'
import { parsed, type StoredRow } from './webhook-row.ts'

/**
 * The fields of a webhook that a delivery needs. A change of any of them raises the version of the
 * webhook: the trigger `raise_version` names their columns.
 */
export interface WebhookForDelivery {
  id: string
  /** Empty where it has none: nothing is sent to it. */
  url: string
  active: boolean
  /** Its tenant is paused. */
  paused: boolean
  /** It has no tenant, and gets the events of all. */
  isOperators: boolean
  secret: string
  /** The secrets before the last rotations that deliveries are signed with as well, newest first. */
  previousSecrets: string[]
  headers: Record<string, string> | null
  timeoutMs: number | null
  /** The name of a transform. */
  transform: string | null
  /** Paths of the payload that it gets; `null`: all of it. */
  fields: string[] | null
  retry: NonNullable<SettingsInput['retry']> | null
  /** Whether it has a rate limit, a cap of attempts at a time or an order. */
  isRestricted: boolean
}

/** Postgres plans a prepared `= any` anew each time, since its cost depends on how many ids it has. */
const ONE = 'select * from svc."__svc.webhooks.for_delivery" where id = $1'
const MANY = 'select * from svc."__svc.webhooks.for_delivery" where id = any($1::uuid[])'

export async function findWebhooksForDelivery(
  db: Db,
  ids: string[],
): Promise<WebhookForDelivery[]> {
  const { rows } = await (ids.length === 1 ? db.query(ONE, ids) : db.query(MANY, [ids]))
  return rows.map(asWebhookForDelivery)
}

export type StoredForDelivery = StoredRow<Omit<WebhookForDelivery, 'previousSecrets' | 'url'>> & {
  previousSecrets: string | null
  url: string | null
}

export const asWebhookForDelivery = (row: StoredForDelivery): WebhookForDelivery => ({
  ...row,
  url: row.url ?? '',
  previousSecrets: parsed(row.previousSecrets) ?? [],
  headers: parsed(row.headers),
  retry: parsed(row.retry),
  fields: parsed(row.fields),
})
