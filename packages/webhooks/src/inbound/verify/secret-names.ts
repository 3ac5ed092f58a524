/** The secrets of a verification: one name, several while one follows another, or those of a request. */
import { isString } from '@svc/core/internal'
import { SecretMissing } from '../errors.ts'
import { expectSecrets } from '../expected-secrets.ts'
import type { InboundRequest, Verify } from '../source.ts'
import { SourceMistake } from '../source-mistake.ts'
import { reject } from './checks.ts'

/**
 * Name of the secret; a list while one follows another: any of them verifies, those that are not set
 * are passed over; or a function of the request, for a source with many connections. For a request
 * that it returns `null` for nothing is verified: the request is refused.
 */
export type SecretName =
  | string
  | readonly string[]
  | ((request: InboundRequest) => string | readonly string[] | null)

export interface NamedSecret {
  name: string
  value: string
}

export const SECRET_NAME = {
  expects: 'the name of a secret, a list of names, or a function (request) => name or names',
  is: (value: unknown): boolean =>
    typeof value === 'function' ||
    isString(value) ||
    (Array.isArray(value) && value.length > 0 && value.every((name) => isString(name))),
  required: true,
}

/** @throws SourceMistake where the function returns something else */
export function namesOf(secretName: SecretName, request: InboundRequest): readonly string[] {
  if (typeof secretName !== 'function') return [secretName].flat()
  const names: unknown = secretName(request) ?? []
  if (names instanceof Promise) {
    // Its rejection would end the process.
    names.catch(() => undefined)
    throw new SourceMistake(
      'secretName returned a promise; it must return the name of a secret, a list of names, or null at once: what has to be waited for belongs into the option "secrets" of svcCore',
    )
  }
  const list = [names].flat()
  if (list.every((name) => typeof name === 'string')) return list
  throw new SourceMistake(
    `secretName must return the name of a secret, a list of names, or null, not a value of type ${typeof names}`,
  )
}

/** Declares which secrets a verification uses: they are looked up before it is called. */
export function expectNames(verify: Verify, secretName: SecretName): Verify {
  return expectSecrets(
    verify,
    typeof secretName === 'function'
      ? (request) => namesOf(secretName, request)
      : [secretName].flat(),
  )
}

/** A host that calls a helper itself may pass an async function. */
type Lookup = (name: string) => string | null | Promise<string | null>

/**
 * The secrets that are set. A request without any is refused.
 *
 * @throws SecretMissing where all are unset or empty: with an empty key anyone could sign
 */
export async function secretsOf(
  request: InboundRequest,
  lookup: Lookup,
  secretName: SecretName,
): Promise<NamedSecret[]> {
  const names = namesOf(secretName, request)
  if (names.length === 0) reject(request, 'there is no secret for this request')
  const found = names.map((name) => ({ name, value: lookup(name) }))
  const secrets: NamedSecret[] = []
  for (const { name, value: looked } of found) {
    const value = looked instanceof Promise ? await looked : looked
    if (typeof value === 'string' && value !== '') secrets.push({ name, value })
  }
  if (secrets.length === 0 && names.length > 0) throw new SecretMissing(names.join(', '))
  return secrets
}
