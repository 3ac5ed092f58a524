/** One provider with the secret of a host: verifies its requests and answers its handshakes. */
import { Buffer } from 'node:buffer'
import type { HandshakeHost, Reply } from './engine/handshakes.ts'
import { rowOf, type Row } from './engine/row.ts'
import { bodyText, mediaTypeOf, Sent, type SentRequest } from './engine/sent.ts'
import { NO_SECRET, type NamedSecret } from './engine/verify.ts'
import { ProviderAway, Refused } from './errors.ts'
import { guardedFetch } from './fetch.ts'
import { rulesOf, vainOption, type OptionRules } from './options.ts'
import type { Preset } from './preset.ts'
import { ProviderClient } from './provider-client.ts'

/** A request of any server, with the body as it was received. */
export interface PlainRequest {
  method: string
  /** Whole, or path and query. */
  url: string
  headers: Readonly<Record<string, string | readonly string[] | undefined>> | Headers
  /** A text is taken for UTF-8. JSON that was parsed and written again is not what was signed. */
  body: string | Uint8Array
}

/** A request as `verify` and `handshake` take it. Of a `Request` a clone is read. */
export type ReceivedRequest = Request | PlainRequest

/** What is known of a request. */
export type Verification =
  | {
      ok: true
      /** `<provider>.<type as the provider writes it>`, for instance `github.push`. */
      event: string
      /** The provider's own id of this delivery; not all of them sign it. `null` where it has none. */
      id: string | null
      /** The parsed body, whole for batches. A text that does not say what it is, and is no JSON, is itself. */
      payload: unknown
    }
  | {
      ok: false
      /** For your log: the sender may be an attacker. It quotes no secret and no signature. */
      reason: string
      /** Whether the sender did nothing wrong, as where the provider's key server is away: answer 503. */
      retry: boolean
    }

/** The secret of a provider, or several of which any verifies, as while one follows another. */
export type SecretText = string | readonly string[]

/** A secret; or that of a request, for many connections: for `null` nothing is verified. */
export type Secret =
  | SecretText
  | ((request: ReceivedRequest) => SecretText | null | Promise<SecretText | null>)

export interface Provider {
  /**
   * Whether a request is of the provider. It does not reject for anything that a sender did, only with
   * the errors of your `secret`, and with a TypeError for a body that was parsed or read already.
   */
  verify: (request: ReceivedRequest) => Promise<Verification>
  /**
   * The answer to a handshake of the provider; `null` for any other request, and for a handshake that is not
   * verified. Call it before `verify`.
   */
  handshake: (request: ReceivedRequest) => Promise<Response | null>
}

/** The options of every provider. */
export interface CommonOptions {
  /**
   * How far a timestamp may be from now, in seconds, both ways. @default the tolerance of the
   * provider
   */
  toleranceSeconds?: number | undefined
  /** Keeps the secret that the provider sends with its first request, unsigned; `false` refuses it. */
  onHandshake?:
    | ((secret: string, request: ReceivedRequest) => boolean | void | Promise<boolean | void>)
    | undefined
  /** What keys of the provider are fetched with. @default the global `fetch` */
  fetch?: typeof globalThis.fetch | undefined
}

interface Settled extends CommonOptions {
  secret?: Secret
  verifyToken?: string
}

/** A row with the options of a host. */
interface Verifying {
  row: Row
  /** For a text that does not say what it is; `undefined` where the body must be what was signed as JSON. */
  textRow: Row | undefined
  hasSecret: boolean
  options: Settled
  client: ProviderClient
}

/** @throws TypeError naming the provider and the option */
export function providerOf(id: string, preset: Preset, given: unknown): Provider {
  const options = settled(id, preset, given)
  const verifying: Verifying = {
    row: rowOf(id, preset, options),
    textRow: textRowOf(id, preset, options),
    hasSecret: preset.secret !== null,
    options,
    client: new ProviderClient(
      guardedFetch((...request) => (options.fetch ?? globalThis.fetch)(...request)),
    ),
  }
  return {
    verify: (request) => verify(verifying, request),
    handshake: (request) => handshake(verifying, request),
  }
}

/** A provider may sign a text, such as that of a test. Some signed texts are clear of JSON alone. */
function textRowOf(id: string, preset: Preset, options: Settled): Row | undefined {
  // What these read is no text.
  if (preset.reads === 'json or lines' || preset.publishes === 'claims') return undefined
  try {
    return rowOf(id, { ...preset, reads: 'any' }, options)
  } catch {
    return undefined
  }
}

const verify = (verifying: Verifying, request: ReceivedRequest): Promise<Verification> =>
  settling<Verification>(
    async () => {
      const sent = await sentIn(request)
      const secrets = await secretsOf(verifying, request)
      const isPlainText = typeof sent.json !== 'object' && mediaTypeOf(sent.request) === ''
      const row = (isPlainText && verifying.textRow) || verifying.row
      if (!(await isGenuine({ ...verifying, row }, sent, secrets))) {
        throw new Refused(sent.reason ?? 'there is no secret for this request')
      }
      // Some sign a GET, as HubSpot does for a card.
      const isBare = sent.request.method === 'GET' && sent.bytes.length === 0
      const payload: unknown = isBare ? '' : JSON.parse(row.payloadOf(sent))
      return { ok: true, ...eventOf(row, sent, payload), payload }
    },
    (failure) => ({ ok: false, ...failure }),
  )

const isGenuine = (
  { row, client }: Verifying,
  sent: Sent,
  secrets: readonly NamedSecret[],
): Promise<boolean> =>
  row.verifier.verify(row.readingOf(sent), secrets, client, row.itemsOf?.(sent.json))

/** What a sender did is a refusal; what a provider did not do is to be tried again. */
async function settling<Result>(
  run: () => Promise<Result>,
  failed: (failure: { reason: string; retry: boolean }) => Result,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ProviderAway) return failed({ reason: error.message, retry: true })
    if (error instanceof Refused) return failed({ reason: error.message, retry: false })
    throw error
  }
}

/** The name and the id. Those of a batch are told where all of its items have them in common. */
function eventOf(row: Row, sent: Sent, payload: unknown): { event: string; id: string | null } {
  const items = row.itemsOf ? row.itemsOf(payload) : [undefined]
  const common = <Value>(of: (item: unknown) => Value, otherwise: Value): Value => {
    const [first, ...others] = new Set(items.map(of))
    return first === undefined || others.length > 0 ? otherwise : first
  }
  return {
    event: common((item) => row.nameOf(sent, item), row.nameOf(sent)),
    id: common((item) => row.idOf(sent, item), null),
  }
}

async function handshake(verifying: Verifying, request: ReceivedRequest): Promise<Response | null> {
  const { row, options, client } = verifying
  const { unverified, verified } = row.respond
  if (!unverified && !verified) return null
  return settling<Response | null>(
    async () => {
      const sent = await sentIn(request)
      const secrets = await secretsOf(verifying, request)
      const host: HandshakeHost = {
        secret: () => secrets[0]?.value,
        verifyToken: () => options.verifyToken ?? '',
        store: options.onHandshake && ((secret) => options.onHandshake?.(secret, request)),
        client,
      }
      const reply = await unverified?.(row.readingOf(sent), host)
      if (reply) return responseOf(reply)
      // A GET is not signed: its answer proves who is asked, or a token who asks.
      const isSigned = sent.request.method === 'POST'
      if (!verified || (isSigned && !(await isGenuine(verifying, sent, secrets)))) return null
      const answer = await verified(row.readingOf(sent), host)
      return answer && responseOf(answer)
    },
    ({ retry }) => (retry ? new Response(null, { status: 503 }) : null),
  )
}

function responseOf({ statusCode, headers = {}, body }: Reply): Response {
  const all = headersOf(headers)
  if (body === undefined) return new Response(null, { status: statusCode, headers: all })
  const isJson = typeof body !== 'string'
  if (!all.has('content-type')) {
    all.set('content-type', `${isJson ? 'application/json' : 'text/plain'}; charset=utf-8`)
  }
  return new Response(isJson ? JSON.stringify(body) : body, { status: statusCode, headers: all })
}

/** A handshake echoes text of the request: a browser must not render it as a page. */
function headersOf(headers: Record<string, string>): Headers {
  try {
    return new Headers({ 'x-content-type-options': 'nosniff', ...headers })
  } catch {
    throw new Refused('the handshake asks for what no header can be')
  }
}

/** The secrets of a request. @throws TypeError for what is none: with an empty key anyone could sign */
async function secretsOf(
  { hasSecret, options: { secret } }: Verifying,
  request: ReceivedRequest,
): Promise<readonly NamedSecret[]> {
  if (!hasSecret) return NO_SECRET
  const given: unknown = (typeof secret === 'function' ? await secret(request) : secret) ?? []
  const texts = [given].flat()
  if (texts.every(isText)) return texts.map((value) => ({ name: 'given', value }))
  throw new TypeError(
    '"secret" returned what is no secret: it must be a text, a list of them, or null',
  )
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

async function sentIn(request: ReceivedRequest): Promise<Sent> {
  if (!isRequest(request)) {
    throw new TypeError('the request must be a Request, or { method, url, headers, body }')
  }
  const { url, headers, body, ...plain } = isWeb(request) ? await plainOf(request) : request
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const target = start === -1 ? '/' : url.slice(start)
  // The URL that is signed and that which is read would differ in it. No client sends one.
  if (target.includes('#')) throw new Refused('there is a "#" in the target')
  const method = plain.method.toUpperCase()
  const lines = isHeaders(headers) ? [...headers] : Object.entries(headers)
  const rawHeaders = lines.flatMap(([name, values = []]) =>
    [values].flat().flatMap((value) => [name.toLowerCase(), value]),
  )
  const first = Object.create(null) as Record<string, string>
  for (let line = 0; line < rawHeaders.length; line += 2) {
    first[rawHeaders[line] ?? ''] ??= rawHeaders[line + 1] ?? ''
  }
  const rawBody = bytesOf(body, method !== 'POST' || hasNoBody(first))
  const sent: SentRequest = { method, url: target, headers: first, rawHeaders, rawBody }
  return new Sent(sent, bodyText(sent, rawBody))
}

const isRequest = (request: unknown): boolean => {
  const { method, url, headers } = (request ?? {}) as Partial<PlainRequest>
  return typeof method === 'string' && typeof url === 'string' && typeof (headers ?? 0) === 'object'
}

/** Not by their classes: those of another library are requests and headers too. */
const isWeb = (request: ReceivedRequest): request is Request => 'arrayBuffer' in request
const isHeaders = (headers: PlainRequest['headers']): headers is Headers =>
  Symbol.iterator in headers

async function plainOf(request: Request): Promise<PlainRequest> {
  const { method, url } = request
  const headers = new Headers(request.headers)
  // A request that was made of a text says so, whatever that is: no sender did.
  if (headers.get('content-type') === 'text/plain;charset=UTF-8') headers.delete('content-type')
  // Throws where a host has read it already.
  const copy = request.clone()
  try {
    return { method, url, headers, body: new Uint8Array(await copy.arrayBuffer()) }
  } catch {
    throw new Refused('the body did not arrive')
  }
}

/** RFC 9112, section 6.3. */
const hasNoBody = (headers: Readonly<Record<string, string>>): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

/** @throws TypeError for a body that a host has parsed: it is not what was signed */
function bytesOf(body: unknown, mayBeAbsent: boolean): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // Parsers leave nothing, or an empty object, of a request without a body. Anyone can send that.
  if (mayBeAbsent && isNothing(body)) return Buffer.alloc(0)
  throw new TypeError(
    '"body" must be what was received, a text or bytes: what was parsed is not what was signed',
  )
}

const isNothing = (body: unknown): boolean =>
  typeof (body ?? {}) === 'object' && !Array.isArray(body) && Object.keys(body ?? {}).length === 0

const OPTIONS: OptionRules = {
  secret: {
    expects: 'a secret, a list of secrets, or a function (request) => one of these or null',
    is: (value) =>
      typeof value === 'function' ||
      isText(value) ||
      (Array.isArray(value) && value.length > 0 && value.every(isText)),
    required: true,
  },
  fetch: { expects: 'a function like fetch', is: (value) => typeof value === 'function' },
}

const VERIFY_TOKEN: OptionRules = {
  verifyToken: {
    expects: 'the text that a handshake must show',
    is: isText,
  },
}

/** @throws TypeError */
function settled(id: string, preset: Preset, given: unknown): Settled {
  const { secret, fetch } = OPTIONS
  const rules: OptionRules = {
    ...(preset.secret !== null && secret && { secret }),
    ...rulesOf(preset, VERIFY_TOKEN),
    ...(fetch && { fetch }),
  }
  const fault = (text: string): Error => new TypeError(`providers.${id}: ${text}`)
  if (typeof given !== 'object' || given === null) throw fault('the options must be an object')
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(rules, name)) continue
    const names = Object.keys(rules).join(', ')
    throw fault(`there is no option "${name}"; there are: ${names}`)
  }
  for (const [name, { expects, is, required }] of Object.entries(rules)) {
    const value: unknown = Reflect.get(given, name)
    if (value === undefined ? required : !is(value)) {
      throw fault(`the option "${name}" must be ${expects}`)
    }
  }
  const vain = vainOption(preset, given)
  if (vain) {
    throw fault(`the option "${vain.option}" has no effect, as ${vain.why}: leave it out`)
  }
  return given
}
