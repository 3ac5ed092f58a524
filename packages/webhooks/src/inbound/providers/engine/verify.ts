/** Verifies a request by the schemes of a row. */
import type { InboundRequest, Verify } from '../../source.ts'
import { reject } from '../../verify/checks.ts'
import {
  expectNames,
  secretsOf,
  type NamedSecret,
  type SecretName,
} from '../../verify/secret-names.ts'
import { hideHeaders, showHeaders } from '../../verify/secret-headers.ts'
import type { Place, Preset } from '../preset.ts'
import type { Scheme } from '../preset-schemes.ts'
import { itemsOf } from './items.ts'
import type { Reading } from './request-places.ts'
import { compileScheme, type Check, type CompiledScheme } from './schemes.ts'

export interface VerifySettings {
  secretName: SecretName | null
  toleranceSeconds: number | undefined
  readingOf: (request: InboundRequest, body: string) => Reading
}

interface OneScheme {
  secretBegins: string | undefined
  find: FindCheck
}

/** The check of the request, of all items where each is verified. */
type FindCheck = (reading: Reading, items: readonly unknown[]) => Check | undefined

/** The secrets of a row that has none. */
const NO_SECRET: NamedSecret[] = [{ name: '', value: '' }]

export function verifyBy(
  preset: Preset,
  { secretName, toleranceSeconds, readingOf }: VerifySettings,
): Verify {
  const { schemes, split } = preset
  const compiled = schemes.map((scheme): OneScheme => {
    const one = compileScheme(scheme, preset)
    return {
      secretBegins: scheme.secretBegins,
      find: scheme.eachItem ? eachItem(one) : one,
    }
  })
  const begins = compiled.flatMap((scheme) => scheme.secretBegins ?? [])
  /** A scheme for some secrets has them to itself. */
  const isFor = ({ secretBegins }: OneScheme, { value }: NamedSecret): boolean =>
    secretBegins === undefined
      ? !begins.some((begin) => value.startsWith(begin))
      : value.startsWith(secretBegins)

  const checkFor = (secret: NamedSecret, reading: Reading, items: readonly unknown[]) => {
    for (const scheme of compiled) {
      const check = isFor(scheme, secret) ? scheme.find(reading, items) : undefined
      if (check) return check
    }
    return undefined
  }

  const verify: Verify = async (request, body, lookup, providerClient) => {
    const secrets = secretName === null ? NO_SECRET : await secretsOf(request, lookup, secretName)
    const reading = readingOf(request, body)
    const items = itemsOf(split, reading)

    let isGenuine = false
    // Every secret is tried, also after a match, so that the duration does not depend on which one
    // matches.
    for (const secret of secrets) {
      const check = checkFor(secret, reading, items)
      if (!check) {
        reject(request, 'the request carries no signature of a scheme that is accepted')
        continue
      }
      const { value, name } = secret
      const verdict = check({
        secret: value,
        secretName: name,
        toleranceSeconds,
        fetching: providerClient,
      })
      if (verdict === true || (verdict !== false && (await verdict))) isGenuine = true
    }
    return isGenuine
  }
  hideHeaders(verify, schemes.flatMap(headersOf))
  showHeaders(verify, schemes.flatMap(timeHeaderOf))
  return secretName === null ? verify : expectNames(verify, secretName)
}

/** The headers that hold what the scheme verifies. */
function headersOf(scheme: Scheme): string[] {
  if (scheme.algorithm === 'basic') return ['authorization']
  const places = 'signature' in scheme ? scheme.signature.in : scheme.in
  return [places].flat().flatMap(headerAt)
}

const timeHeaderOf = (scheme: Scheme): string[] =>
  'timestamp' in scheme && scheme.timestamp ? headerAt(scheme.timestamp.in) : []

const headerAt = (place: Place): string[] =>
  place.startsWith('header:') ? [place.slice('header:'.length)] : []

/** If one item carries something of the scheme, all of them must. */
function eachItem(scheme: CompiledScheme): FindCheck {
  return (reading, items) => {
    const checks = items.map((item) => scheme({ ...reading, item }))
    if (checks.every((check) => check === undefined)) return undefined
    return async (given) => {
      for (const check of checks) {
        if (!check) return reject(reading.request, 'an item carries no signature of this scheme')
        if (!(await check(given))) return false
      }
      return true
    }
  }
}
