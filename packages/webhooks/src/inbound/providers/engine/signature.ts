/** Verifies one scheme of signatures. */
import { reject, valuesByName } from '../../verify/checks.ts'
import type { Preset } from '../preset.ts'
import type { Covers, SignaturePlace, SignatureScheme, Timestamp } from '../preset-schemes.ts'
import { formOf, isForm } from '../../parsed-body.ts'
import { matches, needsPublicKey, type SigningKey } from './algorithms.ts'
import { certificateKey, type Fetching } from './certificates.ts'
import { holds, unbound } from './conditions.ts'
import { hmacKey, keptBySecret, publicKeyOf } from './keys.ts'
import { elementsOf, fieldsOf, findAt, type List, type Reading } from './request-places.ts'
import type { CompiledScheme } from './schemes.ts'
import { ambiguity } from './signed-text.ts'
import { chunksOf, stringOf } from './text.ts'
import { isTimely, millisecondsOf } from '../../verify/timestamps.ts'
import { recordVerified } from './verified.ts'
import { apartFrom, variantsOf } from './url-variants.ts'

export function signatureScheme(scheme: SignatureScheme, preset: Preset): CompiledScheme {
  const applies = applicability(scheme)
  const ambiguous = ambiguity(scheme, preset)
  const read = signaturesAt(scheme.signature)
  const complete = completion(scheme)
  const isBound = unbound(scheme.binds)
  const keyFor = keyOf(scheme)
  const asSigned = comparison(scheme)
  return (given) => {
    const found = applies(given) ? read(given) : undefined
    if (!found) return undefined
    const { request } = given
    return ({ secret, secretName, toleranceSeconds, fetching }) => {
      const reading: Reading = { ...given, secret, list: found.list }
      if (!complete(reading, toleranceSeconds)) {
        return reject(request, 'the timestamp is missing, malformed or outside the tolerance')
      }
      const unboundPlace = isBound(reading)
      if (unboundPlace) return reject(request, `${unboundPlace} is not that of this request`)
      const twofold = ambiguous(reading)
      if (twofold) return reject(request, `the signed text can be read in two ways: ${twofold}`)
      const verdict = (key: SigningKey): boolean => {
        const genuine = asSigned(reading, key, found.signatures)
        if (genuine) recordVerified(request, genuine)
        return genuine !== undefined
      }
      const key = keyFor(reading, secret, secretName, fetching)
      return key instanceof Promise ? key.then(verdict) : verdict(key)
    }
  }
}

/** Whether the request is one of the scheme. Fields are signed of a form only. */
function applicability({ when, signed = '', urls }: SignatureScheme): (r: Reading) => boolean {
  const applies = holds(when)
  const signsFields = /\{params\}|\{form:/.test(signed)
  const isApart = apartFrom(urls)
  return (reading) => {
    if (!applies(reading)) return false
    if (!signsFields) return true
    const { request, body } = reading
    const names = isForm(request) ? Object.keys(formOf(request, body)) : []
    return names.length > 0 && isApart(request, names)
  }
}

/**
 * Adds the covered headers and the timestamp to a reading. Returns whether the timestamp is in
 * time.
 */
function completion({ timestamp, covers }: SignatureScheme) {
  const find = timestamp && findAt(timestamp.in)
  const covered = covers && coveredBy(covers)
  return (reading: Reading, toleranceSeconds: number | undefined): boolean => {
    covered?.(reading)
    if (!find) return true
    reading.timestamp = find(reading)
    return isInTime(timestamp, reading.timestamp, toleranceSeconds)
  }
}

/**
 * The reading of which one of the signatures is right: with one of the variants of the URL where that is
 * signed.
 */
function comparison({ algorithm, encoding, signed = '{body}', urls }: SignatureScheme) {
  const chunksIn = chunksOf(signed)
  const signsUrl = signed.includes('{url}')
  const isRight = (reading: Reading, key: SigningKey, signatures: readonly string[]): boolean => {
    const chunks = chunksIn(reading)
    if (!chunks) return reject(reading.request, 'a value that is signed is missing')
    return (
      matches(algorithm, key, chunks, signatures, encoding) ||
      reject(reading.request, 'no signature matches')
    )
  }
  return (reading: Reading, key: SigningKey, signatures: readonly string[]): Reading | undefined =>
    (signsUrl && reading.url !== undefined
      ? variantsOf(reading.url, urls).map((url) => ({ ...reading, url }))
      : [reading]
    ).find((one) => isRight(one, key, signatures))
}

interface Found {
  signatures: string[]
  list?: List
}

/** Finds the signatures; `undefined` where the request carries none of this scheme. */
function signaturesAt(place: SignaturePlace): (reading: Reading) => Found | undefined {
  const { prefix = '', separator, field } = place
  const finds = [place.in].flat().map((one) => findAt(one))
  return (reading) => {
    const texts: string[] = []
    for (const find of finds) {
      const text = find(reading)
      if (text !== undefined) texts.push(text)
    }
    const [text] = texts
    if (text === undefined) return undefined
    if (field !== undefined) {
      const list = { text, separator: separator ?? ',' }
      const signatures = fieldsOf(list, field)
      return signatures.length === 0 ? undefined : { signatures, list }
    }
    const all =
      separator === undefined ? texts : texts.flatMap((one) => elementsOf({ text: one, separator }))
    return { signatures: withoutPrefix(all, prefix) }
  }
}

function withoutPrefix(all: string[], prefix: string): string[] {
  if (prefix === '') return all
  const signatures: string[] = []
  for (const one of all) if (one.startsWith(prefix)) signatures.push(one.slice(prefix.length))
  return signatures
}

function isInTime(
  { unit, toleranceSeconds }: Timestamp,
  text: string | undefined,
  override = toleranceSeconds,
): boolean {
  const ms = text === undefined ? undefined : millisecondsOf(text, unit)
  return ms !== undefined && isTimely(ms, unit, override, Date.now())
}

/**
 * Adds the headers that the sender names to a reading, unless the request does not carry one of them
 * once, lacks one that must be named, or a value could be several. A header that is named twice is
 * refused: a long value that is named a thousand times would be hashed as often.
 */
function coveredBy(covers: Covers): (reading: Reading) => void {
  const { names, separator, each, join, required = [], ifSent, open } = covers
  const find = findAt(names)
  return (reading) => {
    const list = find(reading)
    if (list === undefined) return
    const headers = valuesByName(reading.request)
    const written: string[] = []
    const named = new Set<string>()
    for (const name of list.split(separator)) {
      const wanted = name.trim().toLowerCase()
      const values = headers[wanted] ?? []
      if (values.length !== 1) return
      if (wanted !== open && values[0]?.includes(join)) return
      delete headers[wanted]
      named.add(wanted)
      written.push(
        each.replaceAll(/\{(name|value)\}/g, (_, what) =>
          what === 'name' ? name : (values[0] ?? ''),
        ),
      )
    }
    // Those that were named have been deleted.
    if (!required.every((name) => named.has(name))) return
    if (ifSent.some((name) => headers[name] !== undefined)) return
    reading.covered = written.join(join)
    reading.coveredNames = named
  }
}

type KeyFor = (
  reading: Reading,
  secret: string,
  secretName: string,
  fetching: Fetching,
) => SigningKey | Promise<SigningKey>

function keyOf({ algorithm, key = {} }: SignatureScheme): KeyFor {
  if (key.certificate) {
    const url = stringOf(key.certificate.url)
    const keyAt = certificateKey(key.certificate)
    return (reading, _secret, _name, fetching) => keyAt(url(reading), fetching)
  }
  if (needsPublicKey(algorithm)) {
    const publicKey = keptBySecret((secret) => publicKeyOf(secret, key))
    return (_reading, secret) => publicKey(secret)
  }
  if (algorithm === 'sha1' || algorithm === 'sha256') return () => null
  const sharedKey = keptBySecret((secret, name) => hmacKey(secret, key, name))
  return (_reading, secret, name) => sharedKey(secret, name)
}
