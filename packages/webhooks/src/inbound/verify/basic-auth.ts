import { isString, resolveOptions } from '@svc/core/internal'
import type { Verify } from '../source.ts'
import { equalBytes, reject, soleHeader } from './checks.ts'
import { expectNames, SECRET_NAME, secretsOf, type SecretName } from './secret-names.ts'

/** Options of `basicAuth`. */
export interface BasicAuthOptions {
  /** Expected username, without a colon: in the header a colon separates it from the password. */
  username: string
  /** Name of the secret with the expected password, or names. */
  passwordSecretName: SecretName
}

/**
 * Makes a verification of HTTP Basic credentials, read as UTF-8.
 *
 * @throws InvalidOption when it is called, which is at boot
 * @example
 * basicAuth({ username: 'sender', passwordSecretName: 'SENDER_PASSWORD' })
 * @see https://www.rfc-editor.org/rfc/rfc7617
 */
export function basicAuth(options: BasicAuthOptions): Verify {
  const { username, passwordSecretName } = resolveOptions<BasicAuthOptions>(
    'basicAuth',
    rules,
    options,
  )
  const verify: Verify = async (request, _body, secret) => {
    const passwords = await secretsOf(request, secret, passwordSecretName)
    if (passwords.length === 0) return false
    const header = soleHeader(request, 'authorization')
    if (header === undefined) return false
    const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? []
    if (base64 === undefined)
      return reject(request, 'the header authorization holds no Basic credentials')
    // Compared as one text, so that the duration does not reveal whether the username was wrong.
    const given = Buffer.from(base64, 'base64')
    const isRight = passwords
      .map(({ value }) => equalBytes(given, Buffer.from(`${username}:${value}`)))
      .includes(true)
    return isRight || reject(request, 'the credentials do not match')
  }
  return expectNames(verify, passwordSecretName)
}

const rules = {
  username: {
    expects: 'a string without a colon',
    is: (value: unknown) => isString(value) && !String(value).includes(':'),
    required: true,
  },
  passwordSecretName: SECRET_NAME,
}
