/** Signs a draft by one scheme of a row. */
import { Buffer } from 'node:buffer'
import {
  createHash,
  createHmac,
  createPrivateKey,
  hash as hashOf,
  randomUUID,
  sign,
  type KeyObject,
} from 'node:crypto'
import { needsPublicKey } from '../engine/algorithms.ts'
import { hmacKey } from '../engine/keys.ts'
import { findAt, type Reading } from '../engine/places.ts'
import { chunksOf } from '../engine/text.ts'
import type { Place, Text } from '../preset.ts'
import type { Binding, Covers, JwtScheme, OwnSignature, Scheme } from '../preset-schemes.ts'
import type { Draft } from './draft.ts'

export interface SigningKeys {
  secret: string
  privateKey: string | undefined
  username: string | undefined
  at: Date
}

const FIVE_MINUTES = 300

export function signDraft(draft: Draft, scheme: Scheme, split: string, keys: SigningKeys): void {
  switch (scheme.algorithm) {
    case 'basic': {
      const text = `${keys.username ?? ''}:${keys.secret}`
      draft.put('header:authorization', `Basic ${Buffer.from(text).toString('base64')}`)
      return
    }
    case 'token': {
      const text = (scheme.prefix ?? '') + keys.secret
      if (scheme.eachItem) draft.putEach(split, scheme.in, () => text)
      else draft.put(scheme.in, text)
      return
    }
    case 'jwt':
      draft.put(scheme.in, (scheme.prefix ?? '') + jwt(draft, scheme, keys))
      return
    default:
      putSignature(draft, scheme, split, keys)
  }
}

function putSignature(draft: Draft, scheme: OwnSignature, split: string, keys: SigningKeys): void {
  const { timestamp, covers, signature, signed = '{body}' } = scheme
  const known: Partial<Reading> = { secret: keys.secret }
  /** The fields of a header that is a list. */
  const list: string[] = []
  const separator = [signature.separator ?? ','].flat()[0] ?? ','
  const putOrList = (place: Place, value: string) => {
    if (place.startsWith('element:')) list.push(value)
    else if (place.startsWith('field:')) list.push(`${place.slice('field:'.length)}=${value}`)
    else draft.put(place, value)
  }
  if (timestamp) {
    known.timestamp = writtenTime(keys.at, timestamp.unit)
    putOrList(timestamp.in, known.timestamp)
  }
  if (covers) known.covered = cover(draft, covers, putOrList)
  if (list.length > 0) known.list = { text: list.join(separator), separator }
  for (const bind of scheme.binds ?? []) {
    const [place] = [bind.in].flat() as [Place]
    const value = bind.orAbsent ? findAt(place)(draft.reading()) : undefined
    if (value !== undefined) draft.put(bind.of?.slice(1, -1) as Place, value)
    else if (!bind.orAbsent) draft.put(place, boundValue(draft, bind, known))
  }

  const make = (reading: Reading) =>
    (signature.prefix ?? '') + signatureOf(scheme, textIn({ ...reading, ...known }), keys)
  const textIn = (reading: Reading) =>
    scheme.compute ? joined(scheme.compute(reading)) : textOf(signed, reading)
  const [place] = [signature.in].flat() as [Place]
  if (scheme.eachItem) draft.putEach(split, place, make)
  else if (signature.field === undefined && list.length > 0) {
    draft.put(place, [...list, make(draft.reading())].join(separator))
  } else if (signature.field === undefined) draft.put(place, make(draft.reading()))
  else {
    list.push(`${signature.field}=${make(draft.reading())}`)
    draft.put(place, list.join(separator))
  }
}

/** Covers the headers that must be, and the content type. */
function cover(draft: Draft, covers: Covers, put: (place: Place, value: string) => void): string {
  const { required = [], ifSent, separator, each, join } = covers
  const sent = ifSent.filter((name) => draft.headers[name] !== undefined)
  const names = ['content-type', ...required, ...sent]
  put(covers.names, names.join(separator))
  return names
    .map((name) => each.replace('{name}', name).replace('{value}', draft.headers[name] ?? ''))
    .join(join)
}

function signatureOf(
  { algorithm, encoding, key = {}, makeKey }: OwnSignature,
  text: Buffer,
  keys: SigningKeys,
): string {
  if (algorithm === 'sha1' || algorithm === 'sha256') {
    return createHash(algorithm).update(text).digest(encoding)
  }
  if (!needsPublicKey(algorithm)) {
    const shared = makeKey?.(keys.secret) ?? hmacKey(keys.secret, key, 'given to signed')
    return createHmac(algorithm.slice('hmac-'.length), shared).update(text).digest(encoding)
  }
  const digest = algorithm === 'ed25519' ? null : algorithm === 'rsa-sha1' ? 'sha1' : 'sha256'
  return sign(digest, text, privateKeyOf(keys)).toString(encoding)
}

/** RFC 7519. By hand: `jose` signs in a promise, and `signed` returns at once. */
function jwt(draft: Draft, scheme: JwtScheme, keys: SigningKeys): string {
  const [alg = 'HS256'] = scheme.algorithms
  const seconds = Math.floor(keys.at.getTime() / 1000)
  const claims: Record<string, unknown> = {
    iat: seconds,
    nbf: seconds,
    exp: seconds + FIVE_MINUTES,
    jti: randomUUID(),
    ...(scheme.issuer === undefined ? {} : { iss: scheme.issuer }),
    ...(scheme.audience === undefined ? {} : { aud: scheme.audience }),
  }
  for (const bind of scheme.binds ?? []) {
    const [place] = [bind.in].flat() as [Place]
    claims[place.slice('claim:'.length)] = boundValue(draft, bind, { secret: keys.secret })
  }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg, typ: 'JWT', kid: 'test' })}.${part(claims)}`
  const bytes =
    alg === 'HS256'
      ? createHmac('sha256', keys.secret).update(text).digest()
      : sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(text), {
          key: privateKeyOf(keys),
          dsaEncoding: 'ieee-p1363',
        })
  return `${text}.${bytes.toString('base64url')}`
}

function boundValue(draft: Draft, bind: Binding, known: Partial<Reading>): string {
  const { of = '{body}', hash, encoding = 'hex' } = bind
  const text = textOf(of, draft.reading(known))
  return hash ? hashOf(hash, text, encoding) : text.toString()
}

function textOf(text: Text, reading: Reading): Buffer {
  const chunks = chunksOf(text)(reading)
  if (chunks) return joined(chunks)
  const places = [...text.matchAll(/\{([^{}|]+)\}/g)].map(([, place]) => place)
  throw new Error(
    `signed: the provider signs ${places.join(', ')}, and not all of them are in this request: give a body, the headers or the option url with them`,
  )
}

const joined = (chunks: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string)))

function privateKeyOf({ privateKey }: SigningKeys): KeyObject {
  return createPrivateKey(privateKey ?? '')
}

function writtenTime(at: Date, unit: string | undefined): string {
  if (unit === 'rfc3339') return at.toISOString()
  return String(unit === 'milliseconds' ? at.getTime() : Math.floor(at.getTime() / 1000))
}
