/** Schemes whose requests show a secret as it is. */
import { Buffer } from 'node:buffer'
import type { BasicScheme, TokenScheme } from '../preset-schemes.ts'
import { equalBytes, equalHeader } from './algorithms.ts'
import { holds } from './conditions.ts'
import { findAt } from './places.ts'
import type { FindCheck } from './verify.ts'

export function tokenScheme({
  in: place,
  prefix = '',
  when,
  mayLackPrefix,
}: TokenScheme): FindCheck {
  const applies = holds(when)
  const find = findAt(place)
  const tokenIn = tokenBehind(prefix)
  return (reading) => {
    const text = applies(reading) ? find(reading) : undefined
    if (text === undefined) return undefined
    const { sent } = reading
    return ({ value }) => {
      const token = tokenIn(text) ?? (mayLackPrefix ? text : undefined)
      if (token === undefined) return sent.reject('the token is written in another way')
      return equalHeader(token, value) || sent.reject('the token does not match')
    }
  }
}

/**
 * The scheme of a header Authorization is matched in any case, and there may be several spaces behind it
 * (RFC 9110, section 11.4).
 */
function tokenBehind(prefix: string): (text: string) => string | undefined {
  const word = prefix.trimEnd()
  return (text) => {
    if (prefix === '') return text
    if (text.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined
    const token = text.slice(prefix.length)
    return word === prefix ? token : token.replace(/^ +/, '')
  }
}

export function basicScheme({ when }: BasicScheme): FindCheck {
  const applies = holds(when)
  return (reading) => {
    const { sent, options } = reading
    const header = applies(reading) ? sent.header('authorization') : undefined
    if (header === undefined) return undefined
    return ({ value }) => {
      const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? []
      if (base64 === undefined) {
        return sent.reject('the header authorization holds no Basic credentials')
      }
      // Compared as one text, so that the duration does not reveal whether the username was wrong.
      const expected = Buffer.from(`${options['username']}:${value}`)
      return (
        equalBytes(Buffer.from(base64, 'base64'), expected) ||
        sent.reject('the credentials do not match')
      )
    }
  }
}
