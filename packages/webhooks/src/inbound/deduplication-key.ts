/** Computes the deduplication key of an event. Whether it is a repeat is decided by the publish. */
import { hash } from 'node:crypto'
import type { DeduplicationKey } from '@svc/core/internal'
import { HostMistake } from '@svc/providers/internal'
import type { Inbound } from './inbound.ts'
import type { Source } from './sources.ts'

/** A readable name. Longer names, and names with other characters, are stored as their hash. */
const READABLE = /^[\x20-\x7e]{1,300}$/

/** The tenant and the path parameters, which separate the keys of one source. */
export interface Scope {
  tenant: string | null
  params: object
}

const NAMES = '__svc.webhooks.inbound'

/**
 * The name under which a key of a source is stored. Different keys have different names. Without a
 * tenant and parameters the name consists of source and key, as in versions that had neither.
 */
export function storedName(source: string, key: string, scope?: Scope): string {
  const params = Object.entries(scope?.params ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const name = JSON.stringify(params.length === 0 ? [source, key] : [source, key, params])
  const tenant = scope?.tenant ?? null
  const stored = READABLE.test(name) ? name : `#${hash('sha256', name)}`
  return `${tenant === null ? NAMES : namesOfTenant(tenant)}${stored}`
}

const namesOfTenant = (tenant: string): string => `${NAMES}@${tenant}`

/**
 * The prefixes of the names of a tenant's keys. No other tenant's names begin with them, because a
 * tenant contains neither `[` nor `#`.
 */
export const namePrefixesOf = (tenant: string): string[] =>
  ['[', '#'].map((begin) => `${namesOfTenant(tenant)}${begin}`)

/** The key that the source's function returns, or `null`. */
export function extractKey(inbound: Inbound, ...item: [item?: unknown]): string | null {
  const { source, request, body } = inbound
  const extract = () => source.deduplicationKey?.(request, body, ...item)
  const key = inbound.calling('deduplicationKey', extract) ?? null
  if (key !== null && typeof key !== 'string') {
    throw new HostMistake(
      `deduplicationKey must return a string or null, not a value of type ${typeof key}`,
    )
  }
  // With an empty key every request would be a repeat of the first.
  return key === '' ? null : key
}

/**
 * Of two simultaneous requests with the same key, the second waits for the first. It is published
 * if the first fails.
 */
export const storedKey = (source: Source, key: string, scope: Scope): DeduplicationKey => ({
  key: storedName(source.name, key, scope),
  ttlSeconds: source.deduplicationTtlSeconds,
})
