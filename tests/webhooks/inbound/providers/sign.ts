// Signs requests as providers do, from the rows' data alone: nothing here is the engine's.
import {
  createHash,
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  sign as signWith,
  type KeyObject,
} from 'node:crypto'
import type {
  JwtScheme,
  Key,
  Scheme,
  SignatureScheme,
} from '../../../../packages/providers/src/preset-schemes.ts'
import { CHAIN } from '../../../providers/needs.ts'
import { bodyOf, filled, itemOf, type Unsigned, type Working } from './filled-text.ts'

export interface Signed {
  method: string
  url: string
  headers: Record<string, string>
  body: string
}

/** The keys of a provider: what it signs with, and what the host is given. */
export interface Keys {
  secret: string
  private?: KeyObject
  jwk?: object
}

const HMACS: Record<string, string> = {
  'hmac-sha1': 'sha1',
  'hmac-sha256': 'sha256',
  'hmac-sha512': 'sha512',
}
const JWT_HASHES: Record<string, string> = { RS256: 'sha256', RS512: 'sha512', ES256: 'sha256' }

export function keysFor(scheme: Scheme): Keys {
  if (scheme.algorithm === 'jwt') {
    if (scheme.algorithms.includes('HS256')) return { secret: 'a shared key of a provider' }
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    if (scheme.key !== 'secret' && 'x5c' in scheme.key) {
      return { secret: '', private: createPrivateKey(CHAIN.leafKey) }
    }
    const { publicKey, privateKey } = scheme.algorithms.includes('EdDSA')
      ? generateKeyPairSync('ed25519')
      : scheme.algorithms.includes('ES256')
        ? pair
        : rsa
    return {
      secret: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      private: privateKey,
      jwk: { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: scheme.algorithms[0] },
    }
  }
  if (!('signature' in scheme)) return { secret: 'a-token_of-a-provider' }
  const { key = {} } = scheme
  const public_ =
    scheme.algorithm === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : scheme.algorithm === 'ecdsa-sha256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : scheme.algorithm.startsWith('rsa')
          ? generateKeyPairSync('rsa', { modulusLength: 2048 })
          : undefined
  if (!public_) return { secret: writtenSecret(key) }
  if (key.jwks) {
    const jwk = { ...public_.publicKey.export({ format: 'jwk' }), kid: 'k1' }
    return { secret: '', private: public_.privateKey, jwk }
  }
  const der = public_.publicKey.export({ type: 'spki', format: 'der' })
  const text =
    key.form === 'raw'
      ? der.subarray(-32).toString(key.encoding === 'hex' ? 'hex' : 'base64')
      : key.form === 'spki'
        ? der.toString('base64')
        : public_.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  return { secret: `${[key.strip ?? ''].flat().join('')}${text}`, private: public_.privateKey }
}

function writtenSecret({ strip = '', encoding = 'text' }: Key): string {
  const bytes = Buffer.from('thirty-two bytes of a secret: 32')
  return (
    [strip].flat().join('') + (encoding === 'text' ? bytes.toString() : bytes.toString(encoding))
  )
}

/** The request of an event, signed at `nowMs` by the first scheme of the row that fits the secret. */
export function signed(scheme: Scheme, unsigned: Unsigned, keys: Keys, nowMs: number): Signed {
  const request: Working = { ...structuredClone(unsigned) }
  for (const [place, wanted] of Object.entries(scheme.when ?? {})) {
    const value = Array.isArray(wanted) ? wanted[0] : wanted
    if (typeof value === 'string') put(request, place, filled(value, request))
    else if (
      value === true &&
      !place.startsWith('option:') &&
      !place.startsWith('query:bodySHA256')
    )
      put(request, place, 'x')
  }
  if (scheme.algorithm === 'token') {
    put(request, scheme.in, (scheme.prefix ?? '') + keys.secret)
    return sent(request)
  }
  if (scheme.algorithm === 'basic') {
    const text = `${request.options['username']}:${keys.secret}`
    put(request, 'header:authorization', `Basic ${Buffer.from(text).toString('base64')}`)
    return sent(request)
  }
  return scheme.algorithm === 'jwt'
    ? withJwt(scheme, request, keys, nowMs)
    : withSignature(scheme, request, keys, nowMs)
}

function withSignature(
  scheme: SignatureScheme,
  request: Working,
  keys: Keys,
  nowMs: number,
): Signed {
  const { timestamp, signature, covers } = scheme
  const list: string[] = []
  request.secret = keys.secret
  if (timestamp) {
    request.timestamp = written(nowMs, timestamp.unit)
    if (timestamp.in.startsWith('element:')) list.push(request.timestamp)
    else if (timestamp.in.startsWith('field:'))
      list.push(`${timestamp.in.slice(6)}=${request.timestamp}`)
    else put(request, timestamp.in, request.timestamp)
  }
  if (covers) {
    request.headers['x-covered'] = 'covered'
    const { required = [], ifSent, separator, each, join } = covers
    const sent = ifSent.filter((name) => request.headers[name] !== undefined)
    const names = ['x-covered', ...required, ...sent]
    const listed = names.join(separator)
    if (covers.names.startsWith('field:')) list.push(`${covers.names.slice(6)}=${listed}`)
    else put(request, covers.names, listed)
    request.covered = names
      .map((name) => each.replace('{name}', name).replace('{value}', request.headers[name] ?? ''))
      .join(join)
    request.fields = names
  }
  for (const { in: place, of = '{body}', hash, encoding = 'hex' } of scheme.binds ?? []) {
    const text = filled(of, request)
    const value = hash ? createHash(hash).update(text).digest(encoding) : text
    put(request, [place].flat()[0] as string, value)
  }
  const text = filled(scheme.signed ?? '{body}', request)
  const made = encoded(scheme, keys, text)
  const [first] = [signature.in].flat()
  if (signature.field !== undefined) {
    list.push(`${signature.field}=${made}`)
    put(request, first as string, list.join([signature.separator ?? ','].flat()[0]))
  } else {
    const [separator = ''] = [signature.separator ?? ''].flat()
    put(request, first as string, [...list, (signature.prefix ?? '') + made].join(separator))
  }
  return sent(request)
}

function encoded({ algorithm, encoding, key }: SignatureScheme, keys: Keys, text: string): string {
  const hmac = HMACS[algorithm]
  if (hmac) return createHmac(hmac, keyOf(keys.secret, key)).update(text).digest(encoding)
  if (algorithm === 'sha1' || algorithm === 'sha256') {
    return createHash(algorithm).update(text).digest(encoding)
  }
  const hash = algorithm === 'ed25519' ? null : algorithm === 'rsa-sha1' ? 'sha1' : 'sha256'
  return signWith(hash, Buffer.from(text), keys.private!).toString(encoding)
}

function keyOf(secret: string, { strip = '', encoding = 'text', hash }: Key = {}): Buffer {
  const prefix = [strip].flat().join('')
  const rest = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  const bytes = Buffer.from(rest, encoding === 'text' ? 'utf8' : encoding)
  return hash ? createHash(hash).update(bytes).digest() : bytes
}

function withJwt(scheme: JwtScheme, request: Working, keys: Keys, nowMs: number): Signed {
  const [alg] = scheme.algorithms
  const seconds = Math.floor(nowMs / 1000)
  const claims: Record<string, unknown> = {
    iat: seconds,
    nbf: seconds,
    exp: seconds + 300,
    jti: 'j1',
  }
  if (scheme.issuer !== undefined) claims['iss'] = scheme.issuer
  if (scheme.audience !== undefined) claims['aud'] = scheme.audience
  for (const { in: place, of = '{body}', hash, encoding = 'hex', ifGiven } of scheme.binds ?? []) {
    if (ifGiven && request.options[of.slice('{option:'.length, -1)] === undefined) continue
    const text = filled(of, request)
    const value = hash ? createHash(hash).update(text).digest(encoding) : text
    putAt(claims, [place].flat()[0]!.slice(6).split('.'), value)
  }
  if (scheme.time) {
    const { in: place, unit } = scheme.time
    if (place.startsWith('claim:')) claims[place.slice(6)] = nowMs
    else put(request, place, written(nowMs, unit))
  }
  const isChain = scheme.key !== 'secret' && 'x5c' in scheme.key
  if (isChain) claims['notificationUUID'] = 'n-1'
  const header = isChain ? { alg, x5c: X5C } : { alg, kid: 'k1' }
  if (scheme.key !== 'secret' && 'jwks' in scheme.key && scheme.key.jwks.kid) {
    put(request, scheme.key.jwks.kid, 'k1')
  }
  const made =
    scheme.detached === undefined
      ? jwt(header, claims, keys)
      : detached(header, filled(scheme.detached, request), keys)
  put(request, scheme.in, (scheme.prefix ?? '') + made)
  return sent(request)
}

/** The certificates of a JWT, the root last. */
export const X5C = [CHAIN.leaf, CHAIN.intermediate, CHAIN.root].map((pem) =>
  pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''),
)

interface JwtHeader {
  alg?: string | undefined
  kid?: string
  x5c?: readonly string[]
}

/** RFC 7515, appendix F. */
function detached(header: JwtHeader, text: string, keys: Keys): string {
  const [head, , signature] = jws(header, text, keys).split('.')
  return `${head}..${signature}`
}

export const jwt = (header: JwtHeader, claims: object, keys: Keys): string =>
  jws(header, JSON.stringify(claims), keys)

function jws(header: JwtHeader, payload: string, keys: Keys): string {
  const part = (value: string) => Buffer.from(value).toString('base64url')
  const text = `${part(JSON.stringify(header))}.${part(payload)}`
  const bytes =
    header.alg === 'HS256'
      ? createHmac('sha256', keys.secret).update(text).digest()
      : signWith(JWT_HASHES[header.alg ?? ''] ?? null, Buffer.from(text), {
          key: keys.private!,
          dsaEncoding: 'ieee-p1363',
        })
  return `${text}.${bytes.toString('base64url')}`
}

function written(ms: number, unit: string | undefined): string {
  if (unit === 'rfc3339') return new Date(ms).toISOString()
  return String(unit === 'milliseconds' ? ms : Math.floor(ms / 1000))
}

/** Puts a value where the row says that it stands. */
function put(request: Working, place: string, value: string): void {
  const [name = '', field] = place.slice(place.indexOf(':') + 1).split('#')
  if (field !== undefined) request.headers[name] = `key=1,${field}=${value}`
  else if (place.startsWith('header:')) request.headers[name.toLowerCase()] = value
  else if (place.startsWith('form:')) (request.form ??= {})[name] = value
  else if (place.startsWith('query:')) {
    request.url += `${request.url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
  } else if (place.startsWith('json:'))
    putAt(request.json as Record<string, unknown>, name.split('.'), value)
  else if (place.startsWith('item:')) putAt(itemOf(request), name.split('.'), value)
  else throw new Error(`the test cannot put ${place}`)
}

function putAt(root: Record<string, unknown>, path: string[], value: unknown): void {
  const [name = '', ...rest] = path
  if (rest.length === 0) root[name] = value
  else putAt((root[name] ??= {}) as Record<string, unknown>, rest, value)
}

const sent = (request: Working): Signed => ({
  method: request.method,
  url: request.url,
  headers: {
    'content-type': request.form ? 'application/x-www-form-urlencoded' : 'application/json',
    ...request.headers,
  },
  body: bodyOf(request),
})
