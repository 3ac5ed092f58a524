/** Verifies one scheme of signatures. */
import { Buffer } from 'node:buffer'
import type { Covers, OwnSignature, SignaturePlace, SignatureScheme } from '../preset-schemes.ts'
import { equalHeader, matches, needsPublicKey, type SigningKey } from './algorithms.ts'
import { certificateKey } from './certificates.ts'
import { holds, unbound } from './conditions.ts'
import { verifyByKeySet } from './key-sets.ts'
import { hmacKey, keptBySecret, publicKeyOf, sharedKey } from './keys.ts'
import { elementsOf, fieldsOf, findAt, type Reading } from './places.ts'
import type { List } from './sent.ts'
import { ambiguity } from './signed-text.ts'
import { chunksOf, stringOf } from './text.ts'
import { isTimely, millisecondsOf } from './timestamps.ts'
import { apartFrom, variantsOf } from './url-variants.ts'
import type { Check, FindCheck, OfPreset } from './verify.ts'

/** @param toleranceSeconds instead of that of the scheme */
export function signatureScheme(
  scheme: OwnSignature,
  preset: OfPreset,
  toleranceSeconds?: number,
): FindCheck {
  const applies = applicability(scheme)
  const ambiguous = ambiguity(scheme, preset)
  const read = scheme.extract ?? signaturesAt(scheme.signature)
  const complete = completion(scheme, toleranceSeconds)
  const isBound = unbound(scheme.binds)
  const keyFor = keyOf(scheme)
  const bySet = scheme.key?.jwks && verifyByKeySet(scheme.key.jwks)
  const asSigned = comparison(scheme)
  return (given) => {
    const found = applies(given) ? read(given) : undefined
    if (!found) return undefined
    const { sent } = given
    return (secret, client) => {
      const reading: Reading = { ...given, secret: secret.value, list: found.list }
      if (found.timestamp !== undefined) reading.timestamp = found.timestamp
      if (!complete(reading)) {
        return sent.reject('the timestamp is missing, malformed or outside the tolerance')
      }
      const unboundPlace = isBound(reading)
      if (unboundPlace) return sent.reject(`${unboundPlace} is not that of this request`)
      const twofold = ambiguous(reading)
      if (twofold) return sent.reject(`the signed text can be read in two ways: ${twofold}`)
      const verdict = (key: SigningKey): boolean => {
        const genuine = asSigned(reading, key, found.signatures)
        if (genuine) {
          const { url, list, coveredNames } = genuine
          sent.verified = { url, list, coveredNames }
        }
        return genuine !== undefined
      }
      if (scheme.orSecret && found.signatures.some(isSecret(secret.value))) return true
      if (bySet) return bySet(reading, client, verdict)
      const key = keyFor(reading, secret, client)
      return key instanceof Promise ? key.then(verdict) : verdict(key)
    }
  }
}

const isSecret =
  (secret: string) =>
  (text: string): boolean =>
    equalHeader(text.replace(/^bearer +/i, ''), secret)

/** Whether the request is one of the scheme. Fields are signed of a form only. */
function applicability({ when, signed = '', urls }: SignatureScheme): (r: Reading) => boolean {
  const applies = holds(when)
  const signsFields = /\{params\}|\{form:/.test(signed)
  const isApart = apartFrom(urls)
  return (reading) => {
    if (!applies(reading)) return false
    if (!signsFields) return true
    const { sent } = reading
    const names = sent.isForm ? Object.keys(sent.form) : []
    return names.length > 0 && isApart(sent, names)
  }
}

/**
 * Adds the covered headers and the timestamp to a reading. Returns whether the timestamp is in
 * time.
 */
function completion({ timestamp, covers }: SignatureScheme, override: number | undefined) {
  const find = timestamp && findAt(timestamp.in)
  const covered = covers && coveredBy(covers)
  return (reading: Reading): boolean => {
    covered?.(reading)
    if (!timestamp) return true
    const { unit, toleranceSeconds } = timestamp
    reading.timestamp ??= find?.(reading)
    const ms = reading.timestamp === undefined ? undefined : millisecondsOf(reading.timestamp, unit)
    return ms !== undefined && isTimely(ms, unit, override ?? toleranceSeconds, Date.now())
  }
}

/**
 * The reading of which one of the signatures is right: with one of the variants of the URL where that is
 * signed.
 */
function comparison(scheme: OwnSignature) {
  const { algorithm, encoding, signed = '{body}', urls } = scheme
  const chunksIn = scheme.compute ?? chunksOf(signed)
  const signsUrl = signed.includes('{url}')
  const isRight = (reading: Reading, key: SigningKey, signatures: readonly string[]): boolean => {
    const chunks = chunksIn(reading)
    if (!chunks) return reading.sent.reject('a value that is signed is missing')
    return (
      matches(algorithm, key, chunks, signatures, encoding) ||
      reading.sent.reject('no signature matches')
    )
  }
  return (reading: Reading, key: SigningKey, signatures: readonly string[]): Reading | undefined =>
    (signsUrl && reading.url !== undefined
      ? variantsOf(reading.url, urls).map((url) => ({ ...reading, url }))
      : [reading]
    ).find((one) => isRight(one, key, signatures))
}

export interface Found {
  signatures: string[]
  list?: List
  /** Where it is found with the signatures. */
  timestamp?: string | undefined
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
    if (separator === undefined) return { signatures: withoutPrefix(texts, prefix) }
    const all = texts.flatMap((one) => elementsOf({ text: one, separator }))
    return { signatures: withoutPrefix(all, prefix), list: { text, separator } }
  }
}

function withoutPrefix(all: string[], prefix: string): string[] {
  if (prefix === '') return all
  const signatures: string[] = []
  for (const one of all) if (one.startsWith(prefix)) signatures.push(one.slice(prefix.length))
  return signatures
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
    const headers = reading.sent.valuesByName()
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

type KeyFor = (reading: Reading, ...with_: Parameters<Check>) => SigningKey | Promise<SigningKey>

function keyOf({ algorithm, key = {}, makeKey }: OwnSignature): KeyFor {
  if (key.certificate) {
    const url = stringOf(key.certificate.url)
    const keyAt = certificateKey(key.certificate)
    return (reading, _secret, client) => keyAt(url(reading), client)
  }
  if (needsPublicKey(algorithm)) {
    const publicKey = keptBySecret((secret) => publicKeyOf(secret, key))
    return (_reading, { value }) => publicKey(value)
  }
  if (algorithm === 'sha1' || algorithm === 'sha256') return () => null
  if (makeKey) return (_reading, { value, name }) => sharedKey(bytesOf(makeKey(value)), name)
  const kept = keptBySecret((secret, name) => hmacKey(secret, key, name))
  return (_reading, { value, name }) => kept(value, name)
}

const bytesOf = (made: string | Uint8Array): Uint8Array =>
  typeof made === 'string' ? Buffer.from(made) : made
