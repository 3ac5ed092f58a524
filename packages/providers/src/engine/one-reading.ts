/** What a row must say so that a request can be read in one way only. */
import type { Place, Preset, Text } from '../preset.ts'
import type { Fetched, JwtScheme, Scheme, SignatureScheme } from '../preset-schemes.ts'

/**
 * @throws TypeError where a request could be published or recognised by something that a scheme of
 *   the row does not sign
 */
export function assertOneReading(preset: Preset): void {
  for (const scheme of preset.schemes) {
    const problem = problemOf(scheme, preset)
    if (problem !== undefined) throw new TypeError(`${preset.name}: ${problem}`)
  }
}

function problemOf(scheme: Scheme, preset: Preset): string | undefined {
  if (scheme.algorithm === 'token' || scheme.algorithm === 'basic') return undefined
  return (
    problemOfBody(scheme, preset) ??
    problemOfCovers(scheme, preset) ??
    problemOfType(scheme, preset) ??
    problemOfKey(scheme, preset) ??
    addressesOf(scheme)
      .map(problemOfAddress)
      .find((one) => one !== undefined)
  )
}

type Signing = SignatureScheme | JwtScheme

const signedBy = (scheme: Signing): string =>
  scheme.algorithm === 'jwt' ? (scheme.detached ?? '') : (scheme.signed ?? '{body}')

/** A text that is signed, but for what it is encoded in. */
const plainly = (signed: string): string => signed.replaceAll(/\{(?:sha256-hex|base64url):/g, '{')

function problemOfBody(scheme: Signing, { reads = 'json', unwrap }: Preset): string | undefined {
  const signed = signedBy(scheme)
  const isPlainHash = scheme.algorithm === 'sha1' || scheme.algorithm === 'sha256'
  if (isPlainHash && signed.startsWith('{secret}') && reads !== 'json') {
    return 'whoever has a plain hash can lengthen what it is of: the body must be JSON'
  }
  const fields = [...signed.matchAll(/\{form:([^}#]+)/g)].map(([, field]) => field)
  if ((fields.length > 0 || signed.includes('{params}')) && !reads.includes('form')) {
    return 'fields of a form are signed, and a body is no form'
  }
  return fields.every((field) => field === unwrap)
    ? undefined
    : 'a field of a form is signed, and others are published'
}

function problemOfCovers(scheme: Signing, { type, deduplicate }: Preset): string | undefined {
  if (!('covers' in scheme) || !scheme.covers) return undefined
  const { required = [], ifSent } = scheme.covers
  const free = placesIn(type, deduplicate).find(
    (place) => isHeader(place) && ![...required, ...ifSent].includes(place.slice('header:'.length)),
  )
  return free && `${free} is read, and need not be among the headers that are signed`
}

/** A header that one scheme signs is signed by all: the others would be a way around it. */
function problemOfType(scheme: Signing, { schemes, type }: Preset): string | undefined {
  const others = schemes.filter((other) => other !== scheme && 'signature' in other)
  const free = placesIn(type).find(
    (place) =>
      isHeader(place) &&
      !signsHeader(scheme, place) &&
      others.some((other) => signsHeader(other, place)),
  )
  return free && `${free} is signed by one scheme, and not by another`
}

function signsHeader(scheme: Scheme, place: Place): boolean {
  if (scheme.when?.[place] === false) return true
  if (scheme.algorithm === 'jwt') {
    return scheme.time?.in === place || signedBy(scheme).includes(`{${place}`)
  }
  if (!('signature' in scheme)) return false
  const { covers, signed = '', timestamp } = scheme
  const named = [...(covers?.required ?? []), ...(covers?.ifSent ?? [])]
  return (
    signed.includes(`{${place}`) ||
    timestamp?.in === place ||
    named.includes(place.slice('header:'.length))
  )
}

function problemOfKey(scheme: Signing, { deduplicate }: Preset): string | undefined {
  for (const text of [deduplicate ?? []].flat()) {
    // The type is that of the event: another header makes another event, not the same one again.
    const places = placesIn(text).filter((place) => place !== ('type' as Place))
    const free = places.find((place) => !isSigned(scheme, place))
    if (free) return `a repeat is recognised by ${free}, which is not signed`
    if (places.length === 0) return 'a repeat is recognised by nothing that is signed'
    // The text is there in every request of the scheme: no later one is used.
    if (isAlwaysThere(text, signedBy(scheme))) return undefined
  }
  return undefined
}

const isAlwaysThere = (text: Text, signed: Text): boolean =>
  [...text.matchAll(/\{([^{}]+)\}/g)].every(
    ([whole, name = '']) => name === 'type' || name.includes('|') || signed.includes(whole),
  )

function isSigned(scheme: Signing, place: string): boolean {
  const signed = plainly(signedBy(scheme))
  const [kind = '', name = ''] = place.split(/:(.*)/s)
  if (scheme.when?.[place as Place] === false) return true
  if (signed.includes(`{${place}}`) || signed.includes(`{${place}|`)) return true
  switch (kind) {
    case 'claim':
      return scheme.algorithm === 'jwt'
    case 'option':
      return true
    case 'body':
    case 'json':
    case 'item':
    case 'key':
      return signsBody(scheme)
    case 'form':
    case 'xml':
      return (
        signsBody(scheme) ||
        signed.includes('{params}') ||
        signed.includes(`{form:${name.split('#')[0]}}`)
      )
    case 'params':
      // Empty where no fields are signed.
      return true
    case 'url':
      return signed.includes('{url}')
    case 'covered':
    case 'header':
      return signsHeader(scheme, place as Place) || kind === 'covered'
    case 'query':
      return signed.includes('{url}') || signed.includes('{path}')
    case 'field':
    case 'element':
      return 'timestamp' in scheme && scheme.timestamp?.in === place
    default:
      return false
  }
}

/** A JWT that is bound to no body only tells who the sender is, as a token does. */
function signsBody(scheme: Signing): boolean {
  const binds = (scheme.binds ?? []).some(({ of = '{body}' }) => of === '{body}')
  if (binds || plainly(signedBy(scheme)).includes('{body}')) return true
  return scheme.algorithm === 'jwt' && scheme.detached === undefined
}

function placesIn(...texts: (Text | readonly Text[] | undefined)[]): Place[] {
  return texts
    .flatMap((text) => [text ?? []].flat())
    .flatMap((text) => [...text.matchAll(/\{([^{}|]+)/g)].map(([, place]) => place as Place))
}

const isHeader = (place: string): boolean => place.startsWith('header:')

const addressesOf = (scheme: Signing): Fetched[] => {
  if (scheme.algorithm !== 'jwt') {
    return [scheme.key?.certificate ?? [], scheme.key?.jwks ?? []].flat()
  }
  if (scheme.key === 'secret' || 'x5c' in scheme.key) return []
  return ['jwks' in scheme.key ? scheme.key.jwks : scheme.key.jwk]
}

const problemOfAddress = ({ url, at }: Fetched): string | undefined =>
  url.includes('{') && at === undefined ? `${url} may be any address` : undefined
