/** Verifies a request by the schemes of a row, or by that of a host. */
import type { Place, Preset } from '../preset.ts'
import type { Scheme } from '../preset-schemes.ts'
import type { ProviderClient } from '../provider-client.ts'
import { jwtScheme } from './jwt.ts'
import type { Reading } from './places.ts'
import { signatureScheme } from './signature.ts'
import { basicScheme, tokenScheme } from './tokens.ts'

export interface NamedSecret {
  name: string
  value: string
}

/** The secrets of a row that has none. */
export const NO_SECRET: readonly NamedSecret[] = [{ name: '', value: '' }]

/**
 * Whether the request is genuine by one secret; where it is not, the reason is recorded. Throws
 * where that cannot be decided. It is a promise only where something is fetched, or a JWT is verified:
 * most requests need no wait.
 */
export type Check = (
  secret: NamedSecret,
  client: ProviderClient | undefined,
) => boolean | Promise<boolean>

/** The check of what the request carries; `undefined` where it carries nothing of this scheme. */
export type FindCheck = (reading: Reading) => Check | undefined

export interface Verifier {
  /**
   * Whether a request is genuine by one of the secrets.
   *
   * @param items those of a batch
   * @throws NotFetched, ProviderAway, EmptyKey or HostMistake
   */
  verify: (
    reading: Reading,
    secrets: readonly NamedSecret[],
    client?: ProviderClient,
    items?: readonly unknown[],
  ) => Promise<boolean>
  /** The headers with what is verified: no log shows them. */
  hides: string[]
  /** The headers with a time, which are no secret. */
  shows: string[]
}

/** What of a row, or of a host, its schemes are compiled with. */
export type OfPreset = Pick<Preset, 'reads' | 'unwrap'>

interface OneScheme {
  secretBegins: string | undefined
  find: (reading: Reading, items: readonly unknown[]) => Check | undefined
}

/**
 * @param toleranceSeconds instead of that of the schemes
 * @throws TypeError for a scheme that could be read in two ways
 */
export function verifierOf(
  schemes: readonly Scheme[],
  preset: OfPreset,
  toleranceSeconds?: number,
): Verifier {
  const compiled = schemes.map((scheme): OneScheme => {
    const find = compile(scheme, preset, toleranceSeconds)
    return { secretBegins: scheme.secretBegins, find: scheme.eachItem ? eachItem(find) : find }
  })
  const begins = compiled.flatMap((scheme) => scheme.secretBegins ?? [])
  /** A scheme for some secrets has them to itself. */
  const isFor = ({ secretBegins }: OneScheme, { value }: NamedSecret): boolean =>
    secretBegins === undefined
      ? !begins.some((begin) => value.startsWith(begin))
      : value.startsWith(secretBegins)

  const hides = schemes.flatMap(headersOf)
  const lack = lackOf(hides)
  return {
    verify: async (reading, secrets, client, items = []) => {
      let isGenuine = false
      // Every secret is tried, also after a match, so that the duration does not depend on which one
      // matches.
      for (const secret of secrets) {
        let check: Check | undefined
        for (const scheme of compiled) {
          if (isFor(scheme, secret)) check ??= scheme.find(reading, items)
        }
        const verdict = check ? check(secret, client) : reading.sent.reject(lack(reading))
        if (verdict === true || (verdict !== false && (await verdict))) {
          isGenuine = true
          reading.sent.verified.secret = secret.value
        }
      }
      return isGenuine
    },
    hides,
    shows: schemes.flatMap(timeHeaderOf),
  }
}

function compile(scheme: Scheme, preset: OfPreset, toleranceSeconds?: number): FindCheck {
  switch (scheme.algorithm) {
    case 'jwt':
      return jwtScheme(scheme, toleranceSeconds)
    case 'token':
      return tokenScheme(scheme)
    case 'basic':
      return basicScheme(scheme)
    default:
      return signatureScheme(scheme, preset, toleranceSeconds)
  }
}

/** Why a request carries nothing that could be verified. */
function lackOf(headers: readonly string[]): (reading: Reading) => string {
  const [header, ...others] = new Set(headers)
  return ({ sent }) => {
    if (header === undefined || others.length > 0 || sent.header(header) !== undefined) {
      return 'the request carries no signature of a scheme that is accepted'
    }
    const isMissing = sent.headerValues(header).length === 0
    return `the header ${header.toLowerCase()} ${isMissing ? 'is missing' : 'came more than once'}`
  }
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
function eachItem(find: FindCheck): OneScheme['find'] {
  return (reading, items) => {
    const checks = items.map((item) => find({ ...reading, item }))
    if (checks.every((check) => check === undefined)) return undefined
    return async (secret, client) => {
      for (const check of checks) {
        if (!check) return reading.sent.reject('an item carries no signature of this scheme')
        if (!(await check(secret, client))) return false
      }
      return true
    }
  }
}
