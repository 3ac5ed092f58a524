import { resolveOptions, type ResolvedOptions } from '@svc/core/internal'
import type { Verify } from '../source.ts'
import { equalHeader, isHeaderName, reject, soleHeader } from './checks.ts'
import { hideHeaders } from './secret-headers.ts'
import { expectNames, SECRET_NAME, secretsOf, type SecretName } from './secret-names.ts'

/** Options of `bearerToken`. */
export interface BearerTokenOptions {
  /** Name of the secret with the expected token, or names. */
  secretName: SecretName
  /**
   * Header that the token is read from. In another header than `authorization` the token may come
   * without `Bearer`. @default "authorization"
   */
  header?: string | undefined
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
  const { secretName, header } = resolveOptions<ResolvedOptions<BearerTokenOptions>>(
    'bearerToken',
    rules,
    options,
  )
  const isSchemeOptional = header.toLowerCase() !== 'authorization'
  const verify: Verify = async (request, _body, secret) => {
    const tokens = await secretsOf(request, secret, secretName)
    if (tokens.length === 0) return false
    const value = soleHeader(request, header)
    if (value === undefined) return false
    const [, token = isSchemeOptional ? value : undefined] = /^bearer +(.+)$/i.exec(value) ?? []
    if (token === undefined) return reject(request, `the header ${header} holds no Bearer token`)
    const isRight = tokens.map((one) => equalHeader(token, one.value)).includes(true)
    return isRight || reject(request, 'the token does not match')
  }
  return expectNames(hideHeaders(verify, [header]), secretName)
}

const rules = {
  secretName: SECRET_NAME,
  header: { expects: 'the name of a header', is: isHeaderName, default: 'authorization' },
}
