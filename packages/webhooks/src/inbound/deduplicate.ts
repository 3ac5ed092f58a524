import { hash } from 'node:crypto'
import type { Claim } from '@svc/core/internal'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

/** Longer names, and those with characters that no log would show, are kept as their hash. */
const READABLE = /^[\x20-\x7e]{1,300}$/

/** The name under which a source's key is remembered; no two sources and keys share one. */
export function claimName(source: string, key: string): string {
  const name = JSON.stringify([source, key])
  return `__svc.webhooks.inbound${READABLE.test(name) ? name : `#${hash('sha256', name)}`}`
}

/** The key that the source's function gives, or `null`. */
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
  // An empty key says nothing about its request: all of them would be repeats of the first.
  return key === '' ? null : key
}

/** What a request claims: of two at the same time the second waits, and gets the key where the first fails. */
export const claimOf = (source: Source, key: string): Claim => ({
  key: claimName(source.name, key),
  ttlSeconds: source.deduplicationTtlSeconds,
})
