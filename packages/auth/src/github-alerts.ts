/**
 * Alerts of GitHub's secret scanning: which keys were found in public, signed with ECDSA over P-256.
 *
 * @see https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partnership-program
 */
import { verify } from 'node:crypto'
import { storableText } from '@svc/core/internal'

/**
 * One of GitHub's public keys, as it lists them.
 *
 * @see https://api.github.com/meta/public_keys/secret_scanning
 */
export interface GithubKey {
  key_identifier: string
  /** PEM. */
  key: string
}

export interface GithubAlert {
  token: string
  type: string
  url: string
  source?: string
}

/** The answer that GitHub expects for each alert. */
export interface GithubFeedback {
  token_raw: string
  token_type: string
  label: 'true_positive' | 'false_positive'
}

/** Whether the bytes of a body are signed with the key that is named. */
export function isSigned(
  body: Uint8Array,
  signature: string,
  identifier: string,
  keys: readonly GithubKey[],
): boolean {
  const named = keys.find((key) => key.key_identifier === identifier)
  if (!named) return false
  try {
    return verify('sha256', body, named.key, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

/** How many alerts a request may hold: GitHub sends several in one, but fewer than this. */
const MOST_ALERTS = 1000

/** `undefined` where a body is no list of alerts. */
export function alertsOf(body: Uint8Array): GithubAlert[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(body).toString())
  } catch {
    return undefined
  }
  const isList = Array.isArray(parsed) && parsed.length <= MOST_ALERTS && parsed.every(isAlert)
  return isList ? (parsed as GithubAlert[]).map(storable) : undefined
}

/**
 * Shortens the place where a key was found, and replaces what Postgres cannot store: the key must
 * be revoked in any case.
 */
function storable({ token, type, url, source }: GithubAlert): GithubAlert {
  const place = { token, type, url: storableText(url, LONGEST_PLACE) }
  return typeof source === 'string'
    ? { ...place, source: storableText(source, LONGEST_PLACE) }
    : place
}

const LONGEST_PLACE = 2000

const isAlert = (value: unknown): boolean => {
  const { token, type, url } = (value ?? {}) as Partial<GithubAlert>
  return [token, type, url].every((field) => typeof field === 'string')
}

export const isGithubKeys = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (one: Partial<GithubKey> | null) =>
      typeof one?.key_identifier === 'string' &&
      typeof one.key === 'string' &&
      one.key.includes('PUBLIC KEY'),
  )
