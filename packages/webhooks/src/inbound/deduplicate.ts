import { hash } from 'node:crypto'
import type { Db, Svc } from '@svc/core'
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

/**
 * Claims a key in the transaction of `db`; `false` where it is taken. A second claim at the same
 * time waits for the first one's transaction, and gets the key where that one rolls back.
 */
export function claim(svc: Svc, db: Db, source: Source, key: string): Promise<boolean> {
  const ttlSeconds = source.deduplicationTtlSeconds
  return svc.kv.setIfAbsent(claimName(source.name, key), true, { ttlSeconds, db })
}
