import { hash } from 'node:crypto'
import type { Claim } from '@svc/core/internal'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

/** Longer names, and names with other characters, are stored as their hash. */
const READABLE = /^[\x20-\x7e]{1,300}$/

/** The name under which a key of a source is stored; no two pairs of source and key share a name. */
export function storedName(source: string, key: string): string {
  const name = JSON.stringify([source, key])
  return `__svc.webhooks.inbound${READABLE.test(name) ? name : `#${hash('sha256', name)}`}`
}

/** The key that the source's function returns, or `null`. */
export function deduplicationKey(
  { deduplicationKey: extract }: Source,
  request: InboundRequest,
  body: string,
): string | null {
  const key = extract?.(request, body) ?? null
  if (key !== null && typeof key !== 'string') {
    throw new TypeError(
      `deduplicationKey must return a string or null, not a value of type ${typeof key}`,
    )
  }
  // With an empty key every request would be a repeat of the first.
  return key === '' ? null : key
}

/** Of two requests with one key at the same time the second waits for the first, and is published where that fails. */
export const claimOf = (source: Source, key: string): Claim => ({
  key: storedName(source.name, key),
  ttlSeconds: source.deduplicationTtlSeconds,
})
