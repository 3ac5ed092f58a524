import { isString, resolveOptions } from '@svc/core/internal'
import { expectSecrets } from '../expected-secrets.ts'
import type { Verify } from '../source.ts'
import { equalBytes } from './equal.ts'
import { soleHeader } from './header.ts'
import { refuse } from './refusal.ts'
import { neededSecret } from './secret.ts'

/** Options of `basicAuth`. */
export interface BasicAuthOptions {
  /** Expected username; it holds no colon, for there the password begins. */
  username: string
  /** Name of the secret with the expected password. */
  passwordSecretName: string
}

/**
 * Verifies HTTP Basic credentials (RFC 7617), read as UTF-8.
 *
 * @throws InvalidOption when it is called, which is at boot
 */
export function basicAuth(options: BasicAuthOptions): Verify {
  const { username, passwordSecretName } = resolveOptions<BasicAuthOptions>(
    'basicAuth',
    rules,
    options,
  )
  const verify: Verify = async (request, _body, secret) => {
    const password = await neededSecret(secret, passwordSecretName)
    const header = soleHeader(request, 'authorization')
    if (header === undefined) return false
    const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? []
    if (base64 === undefined)
      return refuse(request, 'the header authorization holds no Basic credentials')
    // As one text: whether it was the username that was wrong shows in nothing, not even in time.
    const expected = Buffer.from(`${username}:${password}`)
    return (
      equalBytes(Buffer.from(base64, 'base64'), expected) ||
      refuse(request, 'the credentials do not match')
    )
  }
  return expectSecrets(verify, [passwordSecretName])
}

const rules = {
  username: {
    expects: 'a string without a colon',
    is: (value: unknown) => isString(value) && !String(value).includes(':'),
    required: true,
  },
  passwordSecretName: { expects: 'the name of a secret', is: isString, required: true },
}
