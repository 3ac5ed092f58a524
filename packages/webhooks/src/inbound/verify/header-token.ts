import { isString, resolveOptions } from '@svc/core/internal'
import { expectSecrets } from '../expected-secrets.ts'
import type { Verify } from '../source.ts'
import { equalHeader, isHeaderName, neededSecret, reject, soleHeader } from './checks.ts'

/** Options of `headerToken`. */
export interface HeaderTokenOptions {
  /** Header that carries the shared token. */
  header: string
  /** Name of the secret with the expected token. */
  secretName: string
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
    const expected = await neededSecret(secret, secretName)
    const value = soleHeader(request, header)
    if (value === undefined) return false
    return equalHeader(value, expected) || reject(request, 'the token does not match')
  }
  return expectSecrets(verify, [secretName])
}

const rules = {
  header: { expects: 'the name of a header', is: isHeaderName, required: true },
  secretName: { expects: 'the name of a secret', is: isString, required: true },
}
