// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
// What a proxy passes on of a client's request, to the route that decides about it.
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { generateKey } from '../../packages/auth/src/key-format.ts'
import { startHost, type Host } from '../auth/support/host.ts'
import { fuzz, patiently, spoilt, textOf, words } from './fuzz.ts'

const WHOLE_REQUEST = { share: 0.5, longestMs: Infinity }
/** docs/keys/other-services-and-proxies.md: the answers of forward auth; 429 needs limits or a lockout. */
const STATUSES = [204, 401, 403]

const method = fc.oneof(
  fc.constantFrom(...words('GET HEAD OPTIONS POST PUT PATCH DELETE get Get QUERY GET,POST')),
  textOf('GET', 'POST', ',', ' ', '\t', '\0', '\u212a'),
)
const piece = fc.constantFrom(
  ...words('/ /api /API /apis /open /open/ /%6fpen /%61pi /_auth /_webhooks /users /news'),
  ...words('.. /.. /../ /./ // \\ %2f %2e%2e %5c ; ;a=b ? ?a=/../ # %23 %00 %25 %252e %c0%af'),
  ...words('http://other https://open @ : * %3f %3b é \u017f \u0130 \u2028'),
)
const uri = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(piece, { minLength: 1, maxLength: 6 }).map((all) => all.join('')),
  },
  { weight: 2, arbitrary: fc.constantFrom(...words('/open /open/news /api/orders /elsewhere *')) },
  { weight: 2, arbitrary: fc.constantFrom('/open', '/open/news', '/api/x').chain(spoilt) },
  { weight: 1, arbitrary: textOf('/open', '/api', '..', '%2e', ';', '?') },
)
const noise = fc.oneof(textOf('10.0.0.1', ',', 'https', '"', ';', 'for='), fc.ipV4(), fc.ipV6())
/** `''`: it is not sent. A list: it is sent more than once. */
const maybe = (one: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 12, arbitrary: one },
    { weight: 1, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.array(one, { minLength: 2, maxLength: 3 }) },
  )

/** As another server may read a path: decoded again and again, dots followed, slashes joined. */
function readings(target: string): string[] {
  const paths = new Set<string>()
  let text = target.replace(/^https?:\/\/[^/?#\\]*/i, '').replace(/[?#].*$/s, '')
  for (let round = 0; round < 4; round++) {
    try {
      text = decodeURIComponent(text)
    } catch {
      if (round > 0) break
    }
    for (const one of [text, text.replaceAll(/;[^/]*/g, '')]) {
      const segments: string[] = []
      for (const segment of one.replaceAll('\\', '/').split('/')) {
        if (segment === '..') segments.pop()
        else if (segment !== '.' && segment !== '') segments.push(segment)
      }
      paths.add(`/${segments.join('/')}`.toLowerCase())
    }
  }
  return [...paths]
}

const isUnder = (path: string, base: string): boolean =>
  path === base || path.startsWith(`${base}/`)

const isManagement = (path: string) => isUnder(path, '/_auth') || isUnder(path, '/_webhooks')

interface Caller {
  key: string
  userId: string
  may: readonly string[]
}

const READING = ['GET', 'HEAD', 'OPTIONS']

/** Asks about made-up requests; `mustBeKept` says which paths nobody without a key may reach. */
async function fuzzHost(t: Test, { app, makeKey }: Host, mustBeKept: (path: string) => boolean) {
  const [reader, writer] = [
    await makeKey({ scopes: ['read'] }),
    await makeKey({ scopes: ['write'] }),
  ]
  const callers: Caller[] = [
    { ...reader, may: ['read'] },
    { ...writer, may: ['read', 'write'] },
  ]
  const revoked = await makeKey({ scopes: ['admin'] })
  await app.svc.actions.call('__svc.auth.revokeApiKey', revoked.id)
  const none = fc.constant<Caller | undefined>(undefined)
  const credentials = fc.oneof(
    none.map((caller) => ({ caller, lines: {} })),
    fc.constantFrom(...callers).map((caller) => ({ caller, lines: { 'x-api-key': caller.key } })),
    fc
      .constantFrom(...callers)
      .map((caller) => ({ caller, lines: { authorization: `Bearer ${caller.key}` } })),
    fc
      .oneof(
        fc.constantFrom(revoked.key, generateKey(), `${reader.key},${reader.key}`),
        spoilt(reader.key).filter((text) => text.trim() !== reader.key),
      )
      .map((key) => ({ caller: undefined, lines: { 'x-api-key': key } })),
  )
  const request = fc.record({
    credentials,
    method: maybe(method),
    uri: maybe(uri),
    others: fc.dictionary(
      fc.constantFrom(
        ...words('x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-port forwarded'),
        ...words('x-original-uri x-original-url x-rewrite-url x-http-method-override x-svc-user'),
        ...words('x-real-ip x-svc-scopes host'),
      ),
      maybe(noise),
      { maxKeys: 4 },
    ),
  })
  const seen: Record<number, number> = {}
  await fuzz(
    t,
    request,
    async ({ credentials: { caller, lines }, method, uri, others }) => {
      const given = { 'x-forwarded-method': method, 'x-forwarded-uri': uri, ...others }
      const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
      const answer = await patiently(() =>
        app.inject({ url: '/_auth/forward-auth', headers: { ...headers, ...lines } as never }),
      )
      seen[answer.statusCode] = (seen[answer.statusCode] ?? 0) + 1
      if (!STATUSES.includes(answer.statusCode)) {
        throw new Error(`${answer.statusCode} ${answer.body}`)
      }
      if (answer.statusCode !== 204) return
      if (typeof method !== 'string' || typeof uri !== 'string') throw new Error('one came twice')
      const isKept = readings(uri).some(mustBeKept)
      const user = answer.headers['x-svc-user']
      if (isKept && caller === undefined) throw new Error('it passes without a key')
      if (isKept && user !== caller?.userId) throw new Error(`it passes as ${String(user)}`)
      if (user !== '' && user !== caller?.userId)
        throw new Error(`it is said to be ${String(user)}`)
      const needed = READING.includes(method) ? 'read' : 'write'
      if (isKept && !caller?.may.includes(needed)) throw new Error(`it passes without ${needed}`)
      // What can be read in two ways needs a key, and what is behind the proxy decides by itself.
      if (isManagement(uri.toLowerCase()) && /^(?:\/[a-z_]+)+$/i.test(uri)) {
        throw new Error('it passes to a management route')
      }
    },
    WHOLE_REQUEST,
  )
  for (const status of STATUSES) t.ok(seen[status], `some are answered with ${status}`)
}

t.test('forward auth passes nothing but what the key or the exclusions allow', async (t) => {
  const host = await startHost(t, { auth: { excludePaths: ['/open', '/open/*'] } })
  await fuzzHost(t, host, (path) => !isUnder(path, '/open'))
})

t.test('forward auth keeps the protected paths, however they are spelt', async (t) => {
  const host = await startHost(t, { auth: { protectedPaths: ['/api'], excludePaths: ['/open'] } })
  await fuzzHost(t, host, (path) => isUnder(path, '/api') || isManagement(path))
})
