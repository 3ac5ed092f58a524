import { isString, resolveOptions } from '@svc/core/internal'
import { expectSecrets } from '../expected-secrets.ts'
import type { Verify } from '../source.ts'
import { equalHeader } from './equal.ts'
import { soleHeader } from './header.ts'
import { isHeaderName } from './header-name.ts'
import { refuse } from './refusal.ts'
import { neededSecret } from './secret.ts'

/** Options of `bearerToken`. */
export interface BearerTokenOptions {
  /** Name of the secret with the expected token. */
  secretName: string
  /** Header that the token is read from; in any but this one it may also stand without `Bearer`. @default "authorization" */
  header?: string
}

/**
 * Verifies a token that is sent as `Authorization: Bearer <token>`.
 *
 * @throws InvalidOption when it is called, which is at boot
 */
export function bearerToken(options: BearerTokenOptions): Verify {
  const { secretName, header } = resolveOptions<Required<BearerTokenOptions>>(
    'bearerToken',
    rules,
    options,
  )
  const mayBeBare = header.toLowerCase() !== 'authorization'
  const verify: Verify = async (request, _body, secret) => {
    const expected = await neededSecret(secret, secretName)
    const value = soleHeader(request, header)
    if (value === undefined) return false
    const [, token = mayBeBare ? value : undefined] = /^bearer +(.+)$/i.exec(value) ?? []
    if (token === undefined) return refuse(request, `the header ${header} holds no Bearer token`)
    return equalHeader(token, expected) || refuse(request, 'the token does not match')
  }
  return expectSecrets(verify, [secretName])
}

const rules = {
  secretName: { expects: 'the name of a secret', is: isString, required: true },
  header: { expects: 'the name of a header', is: isHeaderName, default: 'authorization' },
}
