/** Schemes whose requests show a secret as it is. */
import { equalBytes, equalHeader, reject, soleHeader } from '../../verify/checks.ts'
import type { BasicScheme, TokenScheme } from '../preset-schemes.ts'
import { holds } from './conditions.ts'
import { findAt } from './request-places.ts'
import type { CompiledScheme } from './schemes.ts'

export function tokenScheme({ in: place, prefix = '', when }: TokenScheme): CompiledScheme {
  const applies = holds(when)
  const find = findAt(place)
  return (reading) => {
    const text = applies(reading) ? find(reading) : undefined
    if (text === undefined) return undefined
    return ({ secret }) => {
      // The scheme of a header Authorization is matched in any case (RFC 9110, section 11.1).
      if (text.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) {
        return reject(reading.request, 'the token is written in another way')
      }
      const token = text.slice(prefix.length)
      return equalHeader(token, secret) || reject(reading.request, 'the token does not match')
    }
  }
}

export function basicScheme({ when }: BasicScheme): CompiledScheme {
  const applies = holds(when)
  return (reading) => {
    const { request, options } = reading
    const header = applies(reading) ? soleHeader(request, 'authorization') : undefined
    if (header === undefined) return undefined
    return ({ secret }) => {
      const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? []
      if (base64 === undefined) {
        return reject(request, 'the header authorization holds no Basic credentials')
      }
      // Compared as one text, so that the duration does not reveal whether the username was wrong.
      const expected = Buffer.from(`${options['username']}:${secret}`)
      return (
        equalBytes(Buffer.from(base64, 'base64'), expected) ||
        reject(request, 'the credentials do not match')
      )
    }
  }
}
