import { resolveOptions } from '@svc/core/internal'
import type { Verify } from '../source.ts'
import { equalHeader, isHeaderName, reject, soleHeader } from './checks.ts'
import { hideHeaders } from './secret-headers.ts'
import { expectNames, SECRET_NAME, secretsOf, type SecretName } from './secret-names.ts'

/** Options of `headerToken`. */
export interface HeaderTokenOptions {
  /** Header that carries the shared token. */
  header: string
  /** Name of the secret with the expected token, or names. */
  secretName: SecretName
}

/**
 * Makes a verification of a shared token that is the whole value of a header.
 *
 * @throws InvalidOption when it is called, which is at boot
 * @example
 * headerToken({ header: 'x-gitlab-token', secretName: 'GITLAB_TOKEN' })
 */
export function headerToken(options: HeaderTokenOptions): Verify {
  const { header, secretName } = resolveOptions<HeaderTokenOptions>('headerToken', rules, options)
  const verify: Verify = async (request, _body, secret) => {
    const tokens = await secretsOf(request, secret, secretName)
    if (tokens.length === 0) return false
    const value = soleHeader(request, header)
    if (value === undefined) return false
    const isRight = tokens.map((one) => equalHeader(value, one.value)).includes(true)
    return isRight || reject(request, 'the token does not match')
  }
  return expectNames(hideHeaders(verify, [header]), secretName)
}

const rules = {
  header: { expects: 'the name of a header', is: isHeaderName, required: true },
  secretName: SECRET_NAME,
}
