import { isString, resolveOptions } from '@svc/core/internal'
import { expectSecrets } from '../expected-secrets.ts'
import type { Verify } from '../source.ts'
import { equalHeader, isHeaderName, neededSecret, reject, soleHeader } from './checks.ts'

/** Options of `bearerToken`. */
export interface BearerTokenOptions {
  /** Name of the secret with the expected token. */
  secretName: string
  /**
   * Header that the token is read from. In another header than `authorization` the token may come
   * without `Bearer`. @default "authorization"
   */
  header?: string
}

/**
 * Makes a verification of a token that is sent as `Authorization: Bearer <token>`.
 *
 * @throws InvalidOption when it is called, which is at boot
 * @example
 * bearerToken({ secretName: 'SENDER_TOKEN' })
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-2.1
 */
export function bearerToken(options: BearerTokenOptions): Verify {
  const { secretName, header } = resolveOptions<Required<BearerTokenOptions>>(
    'bearerToken',
    rules,
    options,
  )
  const isSchemeOptional = header.toLowerCase() !== 'authorization'
  const verify: Verify = async (request, _body, secret) => {
    const expected = await neededSecret(secret, secretName)
    const value = soleHeader(request, header)
    if (value === undefined) return false
    const [, token = isSchemeOptional ? value : undefined] = /^bearer +(.+)$/i.exec(value) ?? []
    if (token === undefined) return reject(request, `the header ${header} holds no Bearer token`)
    return equalHeader(token, expected) || reject(request, 'the token does not match')
  }
  return expectSecrets(verify, [secretName])
}

const rules = {
  secretName: { expects: 'the name of a secret', is: isString, required: true },
  header: { expects: 'the name of a header', is: isHeaderName, default: 'authorization' },
}
