/** Verifies one scheme of signatures. */
import { headerValues, reject } from '../../verify/checks.ts'
import type { Covers, SignaturePlace, SignatureScheme } from '../preset.ts'
import { matches, needsPublicKey, type SigningKey } from './algorithms.ts'
import { certificateKey, type Fetching } from './certificates.ts'
import { holds, unbound } from './conditions.ts'
import { keyBytes, publicKeyOf } from './keys.ts'
import { elementsOf, fieldsOf, findAt, type List, type Reading } from './reading.ts'
import type { CompiledScheme } from './schemes.ts'
import { chunksOf, stringOf } from './text.ts'
import { isTimely, millisecondsOf } from './timestamps.ts'
import { writingsOf } from './url-writings.ts'

export function signatureScheme(scheme: SignatureScheme): CompiledScheme {
  const read = signaturesAt(scheme.signature)
  const signed = chunksOf(scheme.signed ?? '{body}')
  const find = scheme.timestamp && findAt(scheme.timestamp.in)
  const covered = scheme.covers && coveredBy(scheme.covers)
  const isBound = unbound(scheme.binds)
  const keyFor = keyOf(scheme)
  const signsUrl = (scheme.signed ?? '').includes('{url}')
  return {
    when: holds(scheme.when),
    isPresent: (reading) => read(reading) !== undefined,
    async verify(given, { secret, secretName, toleranceSeconds, fetching }) {
      const { request } = given
      const found = read(given)
      if (!found) return reject(request, 'the signature is missing')
      const reading: Reading = { ...given, secret, ...(found.list && { list: found.list }) }
      if (find) {
        const timestamp = find(reading)
        if (!isInTime(scheme, timestamp, toleranceSeconds)) {
          return reject(request, 'the timestamp is missing, malformed or outside the tolerance')
        }
        if (timestamp !== undefined) reading.timestamp = timestamp
      }
      const text = covered?.(reading)
      if (text !== undefined) reading.covered = text
      const unboundPlace = isBound(reading)
      if (unboundPlace) return reject(request, `${unboundPlace} is not that of this request`)
      const key = await keyFor(reading, secret, secretName, fetching)
      const isRight = (url: string | undefined): boolean => {
        const chunks = signed(url === undefined ? reading : { ...reading, url })
        if (!chunks) return reject(request, 'a value that is signed is missing')
        return (
          matches(scheme.algorithm, key, chunks, found.signatures, scheme.encoding) ||
          reject(request, 'no signature matches')
        )
      }
      if (!signsUrl || reading.url === undefined) return isRight(undefined)
      return writingsOf(reading.url, scheme.urls).some(isRight)
    },
  }
}

interface Found {
  signatures: string[]
  list?: List
}

/** Finds the signatures; `undefined` where the request carries none of this scheme. */
function signaturesAt(place: SignaturePlace): (reading: Reading) => Found | undefined {
  const { prefix = '', separator, field } = place
  const finds = [place.in].flat().map((one) => findAt(one as `header:${string}`))
  return (reading) => {
    const texts = finds.map((find) => find(reading)).filter((text) => text !== undefined)
    const [text] = texts
    if (text === undefined) return undefined
    if (field !== undefined) {
      const list = { text, separator: separator ?? ',' }
      const signatures = fieldsOf(list, field)
      return signatures.length === 0 ? undefined : { signatures, list }
    }
    const all =
      separator === undefined ? texts : texts.flatMap((text) => elementsOf({ text, separator }))
    const signatures = all
      .filter((one) => one.startsWith(prefix))
      .map((one) => one.slice(prefix.length))
    return { signatures }
  }
}

function isInTime(
  { timestamp }: SignatureScheme,
  text: string | undefined,
  override: number | undefined,
): boolean {
  if (text === undefined) return false
  const ms = millisecondsOf(text, timestamp?.unit)
  if (ms === undefined) return false
  const tolerance = override ?? timestamp?.toleranceSeconds
  return tolerance === undefined || isTimely(ms, timestamp?.unit, tolerance, Date.now())
}

/** The headers that the sender names; `undefined` where the request does not carry one of them once. */
function coveredBy({ names, separator, each, join }: Covers): (r: Reading) => string | undefined {
  const find = findAt(names)
  return (reading) => {
    const list = find(reading)
    if (list === undefined) return undefined
    const written: string[] = []
    for (const name of list.split(separator)) {
      const values = headerValues(reading.request, name.trim())
      if (values.length !== 1) return undefined
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
  if (needsPublicKey(algorithm)) return (_reading, secret) => publicKeyOf(secret, key)
  if (algorithm === 'sha1' || algorithm === 'sha256') return () => null
  return (_reading, secret, name) => keyBytes(secret, key, name)
}
