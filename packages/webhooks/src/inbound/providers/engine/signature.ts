/** Verifies one scheme of signatures. */
import { reject, valuesByName } from '../../verify/checks.ts'
import type { Covers, SignaturePlace, SignatureScheme, Timestamp } from '../preset-schemes.ts'
import { matches, needsPublicKey, type SigningKey } from './algorithms.ts'
import { certificateKey, type Fetching } from './certificates.ts'
import { holds, unbound } from './conditions.ts'
import { hmacKey, keptBySecret, publicKeyOf } from './keys.ts'
import { elementsOf, fieldsOf, findAt, type List, type Reading } from './request-places.ts'
import type { CompiledScheme } from './schemes.ts'
import { chunksOf, stringOf } from './text.ts'
import { isTimely, millisecondsOf } from '../../verify/timestamps.ts'
import { variantsOf } from './url-variants.ts'

export function signatureScheme(scheme: SignatureScheme): CompiledScheme {
  const applies = holds(scheme.when)
  const read = signaturesAt(scheme.signature)
  const complete = completion(scheme)
  const isBound = unbound(scheme.binds)
  const keyFor = keyOf(scheme)
  const isSigned = comparison(scheme)
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
      const key = keyFor(reading, secret, secretName, fetching)
      return key instanceof Promise
        ? key.then((its) => isSigned(reading, its, found.signatures))
        : isSigned(reading, key, found.signatures)
    }
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
    reading.covered = covered?.(reading)
    if (!find) return true
    reading.timestamp = find(reading)
    return isInTime(timestamp, reading.timestamp, toleranceSeconds)
  }
}

/**
 * Whether one of the signatures is right, in one of the variants of the URL where that is signed.
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
  return (reading: Reading, key: SigningKey, signatures: readonly string[]): boolean =>
    signsUrl && reading.url !== undefined
      ? variantsOf(reading.url, urls).some((url) => isRight({ ...reading, url }, key, signatures))
      : isRight(reading, key, signatures)
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
  if (ms === undefined) return false
  return override === undefined || isTimely(ms, unit, override, Date.now())
}

/**
 * The headers that the sender names; `undefined` where the request does not carry one of them once,
 * or one is named twice: a long value that is named a thousand times would be hashed as often.
 */
function coveredBy({ names, separator, each, join }: Covers): (r: Reading) => string | undefined {
  const find = findAt(names)
  return (reading) => {
    const list = find(reading)
    if (list === undefined) return undefined
    const headers = valuesByName(reading.request)
    const written: string[] = []
    for (const name of list.split(separator)) {
      const wanted = name.trim().toLowerCase()
      const values = headers[wanted] ?? []
      if (values.length !== 1) return undefined
      delete headers[wanted]
      written.push(
        each.replaceAll(/\{(name|value)\}/g, (_, what) =>
          what === 'name' ? name : (values[0] ?? ''),
        ),
      )
    }
    return written.join(join)
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
    const { certificate } = key
    const url = stringOf(certificate.url)
    return (reading, _secret, _name, fetching) =>
      certificateKey(url(reading), certificate, fetching)
  }
  if (needsPublicKey(algorithm)) {
    const publicKey = keptBySecret((secret) => publicKeyOf(secret, key))
    return (_reading, secret) => publicKey(secret)
  }
  if (algorithm === 'sha1' || algorithm === 'sha256') return () => null
  const sharedKey = keptBySecret((secret, name) => hmacKey(secret, key, name))
  return (_reading, secret, name) => sharedKey(secret, name)
}
