// Every preset × what may be done to one of its requests: what is published, and what a repeat is
// recognised by, is what was signed.
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { ProviderId } from '@svc/webhooks/providers'
import type { InboundSource } from '@svc/webhooks'
import type { Preset } from '../../../../packages/providers/src/preset.ts'
import type { Scheme } from '../../../../packages/providers/src/preset-schemes.ts'
import { ROWS } from '../../../providers/needs.ts'
import { hostOf, type Host } from './counting-host.ts'
import { certificateFor, eventOf, keys, make, ORIGIN } from './genuine.ts'
import { signed, type Keys, type Signed } from './sign.ts'

const FORM = 'application/x-www-form-urlencoded'

interface Sender {
  id: ProviderId
  path: string
  preset: Preset
  scheme: Scheme
  keys: Keys
  request: Signed
}

const signedAt = (
  { path, preset, scheme, keys: own }: Omit<Sender, 'request'>,
  ms: number,
): Signed => signed(scheme, eventOf(preset, scheme, path), own, ms)

const senders = ROWS.flatMap(([id, preset]) =>
  preset.schemes.flatMap((scheme, place): Omit<Sender, 'request'>[] => {
    const path = `/${id}/${place}`
    // Confirmations, which are no events.
    if (Array.isArray(scheme.when?.['json:Type'])) return []
    return [{ id, path, preset, scheme, keys: keys(scheme) }]
  }),
)

/** What the provider of the sender answers that is asked at the moment. */
let fetched = ''

/** A host with every preset, whose secret is the second of two. */
function hostOfAll(t: Test): Host {
  const secrets: Record<string, string> = { VERIFY_TOKEN: 'x' }
  const sources: Record<string, InboundSource> = {}
  const roots: string[] = []
  for (const { id, path, preset, scheme, keys: own } of senders) {
    sources[path] = make(id, preset, path, [`first ${path}`, path])
    secrets[path] = own.secret
    if (isShared(scheme)) secrets[`first ${path}`] = own.secret.replaceAll('t', 's')
    roots.push(...certificateFor(scheme, own).roots)
  }
  const fetch = async () => ({ statusCode: 200, body: fetched })
  return hostOf(t, sources, secrets, fetch, [...new Set(roots)])
}

/** A public key of another kind would be no key. */
const isShared = (scheme: Scheme): boolean =>
  scheme.algorithm.startsWith('hmac') || scheme.algorithm === 'token'

interface Changes {
  body?: string
  headers?: Record<string, string | undefined>
  url?: string
}

async function send({ app }: Host, { url, headers, body }: Signed, changes: Changes = {}) {
  const all = Object.entries({ ...headers, ...changes.headers })
  const kept = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const answer = await app.inject({
    method: 'POST',
    url: changes.url ?? url.slice(ORIGIN.length),
    headers: Object.fromEntries(kept) as Record<string, string>,
    payload: changes.body ?? body,
  })
  return answer.statusCode
}

const placesOf = (scheme: Scheme): string[] => {
  if (scheme.algorithm === 'basic') return ['header:authorization']
  return 'signature' in scheme ? [scheme.signature.in].flat() : [scheme.in]
}

const signedText = (scheme: Scheme): string =>
  'signature' in scheme
    ? (scheme.signed ?? '{body}')
    : scheme.algorithm === 'jwt'
      ? (scheme.detached ?? '')
      : ''

const bindsBody = (scheme: Scheme): boolean =>
  scheme.binds?.some(({ of = '{body}' }) => of === '{body}') === true ||
  /\{(?:sha256-hex:|base64url:)?(?:body|params|crc32|form:[^}]+)\}/.test(signedText(scheme))

const bindsUrl = (scheme: Scheme): boolean =>
  /\{(?:url|path)\}/.test(signedText(scheme)) ||
  scheme.binds?.some(({ of }) => of === '{url}') === true

/** A JWT with `exp` is good for its five minutes and one of leeway. */
const toleranceOf = (scheme: Scheme): number | undefined => {
  if ('timestamp' in scheme) return scheme.timestamp?.toleranceSeconds
  if (scheme.algorithm !== 'jwt' || scheme.timeless) return undefined
  return scheme.toleranceSeconds ?? 360
}

/** The headers that a request may have with any value: nothing that is signed or read is in them. */
function freeHeaders({ preset, scheme, request }: Sender): string[] {
  const row = JSON.stringify([scheme, preset.type])
  const named = new Set([
    'authorization',
    'content-type',
    'x-covered',
    ...row.toLowerCase().match(/[a-z0-9-]+/g)!,
  ])
  return Object.keys(request.headers).filter((name) => !named.has(name))
}

const expectedOf = ({ preset, request }: Sender): unknown => {
  const isForm = request.headers['content-type'] === FORM
  const fields = Object.fromEntries(new URLSearchParams(request.body))
  if (preset.unwraps === 'xml') return { kind: 'x-1' }
  if (isForm) return preset.unwrap ? JSON.parse(fields[preset.unwrap]!) : fields
  return JSON.parse(request.body)
}

/** The only event, its secrets as they were before they were masked. */
function payloadOf({ payloads }: Host, { preset, scheme }: Sender): unknown {
  const payload: unknown = JSON.parse(payloads[0]!)
  const masked = [...(preset.hides ?? []), ...placesOf(scheme)].some((place) =>
    /^(?:json|item):/.test(place),
  )
  return masked ? undefined : payload
}

t.test('what is published, and recognised as a repeat, is what was signed', async (t) => {
  const host = hostOfAll(t)
  const { published } = host
  for (const unsent of senders) {
    const sender: Sender = { ...unsent, request: signedAt(unsent, Date.now()) }
    const { path: name, preset, scheme, request, keys: own } = sender
    fetched = certificateFor(scheme, own).body
    published.length = 0
    host.payloads.length = 0
    await t.test(name, async (t) => {
      const isSecretFree = preset.secret === null
      const signsNothing = scheme.algorithm === 'token' || scheme.algorithm === 'basic'

      t.ok((await send(host, request)) < 300, `${name}: signed now, by the second secret`)
      t.equal(published.length, 1, `${name}: one event`)
      const payload = payloadOf(host, sender)
      const whole = expectedOf(sender)
      if (payload !== undefined && preset.split === undefined) {
        t.strictSame(payload, whole, `${name}: the payload`)
      }
      if (own.secret.length > 8 && isShared(scheme)) {
        t.notOk(host.payloads.join('').includes(own.secret), `${name}: no secret in it`)
      }

      const recognised = preset.deduplicate === undefined ? null : 1
      const count = () => (recognised === null ? null : published.length)
      t.ok((await send(host, request)) < 300, `${name}: the repeat`)
      t.equal(count(), recognised, `${name}: a repeat is no event`)
      const other = signsNothing
        ? {}
        : Object.fromEntries(freeHeaders(sender).map((one) => [one, 'another-1']))
      t.ok((await send(host, request, { headers: other })) < 300, `${name}: other ids`)
      t.equal(count(), recognised, `${name}: ids that nobody signed make no event`)
      const upper = Object.entries(request.headers).map(([one, value]) => [
        one.toUpperCase(),
        value,
      ])
      t.ok((await send(host, { ...request, headers: Object.fromEntries(upper) })) < 300, name)
      t.equal(count(), recognised, `${name}: names of headers in capitals`)
      if (
        'signature' in scheme &&
        scheme.encoding === 'hex' &&
        placesOf(scheme)[0]?.startsWith('header:')
      ) {
        const [header = ''] = placesOf(scheme).map((one) => one.slice('header:'.length))
        const text = request.headers[header] ?? ''
        const hex = text.replaceAll(/[0-9a-f]{40,}/g, (digits) => digits.toUpperCase())
        t.ok((await send(host, request, { headers: { [header]: hex } })) < 300, `${name}: hex`)
        t.equal(count(), recognised, `${name}: hex in capitals`)
      }

      const before = published.length
      const path = request.url.slice(ORIGIN.length)
      const query = await send(host, request, {
        url: `${path}${path.includes('?') ? '&' : '?'}x=1`,
      })
      if (bindsUrl(scheme)) t.equal(query, 401, `${name}: another query`)
      else t.ok(query < 300, `${name}: a query that nobody reads`)

      const isForm = request.headers['content-type'] === FORM
      const types = isForm
        ? ['application/json', 'text/plain', 'multipart/form-data; boundary=x', undefined]
        : [
            FORM,
            'Application/X-WWW-Form-Urlencoded',
            'text/plain',
            'multipart/form-data; boundary=x',
          ]
      for (const type of types) {
        const status = await send(host, request, { headers: { 'content-type': type } })
        const reads =
          preset.reads === 'any' || preset.contentTypes?.includes(type?.toLowerCase() ?? '')
        if (reads) t.ok(status < 300, `${name}: as ${type}`)
        else t.ok([400, 401, 415].includes(status), `${name}: as ${type}, ${status}`)
      }
      if (!isForm) {
        t.ok((await send(host, request, { headers: { 'content-type': undefined } })) < 300, name)
      }
      if (recognised !== null) t.equal(published.length, before, `${name}: read in another way`)
      const last = published.length

      if (bindsBody(scheme)) {
        const bodies = [
          isForm ? request.body.slice(0, -1) : request.body.replace(/([\]}])$/, ' $1'),
          isForm ? `${request.body}1` : `${request.body} `,
          isForm ? 'a=1' : '{"a":1}',
          '',
        ]
        for (const body of bodies) {
          t.equal(await send(host, request, { body }), 401, `${name}: the body ${body.slice(-9)}`)
        }
      }
      for (const header of placesOf(scheme).filter((one) => one.startsWith('header:'))) {
        const at = header.slice('header:'.length)
        if (request.headers[at] === undefined) continue
        for (const value of [undefined, '', ' ', 'x', request.headers[at].slice(0, -4)]) {
          t.equal(
            await send(host, request, { headers: { [at]: value } }),
            401,
            `${name}: ${at} ${value}`,
          )
        }
      }
      const tolerance = toleranceOf(scheme)
      if (tolerance !== undefined) {
        for (const seconds of [-tolerance - 20, tolerance + 20, -5 * 365 * 86_400]) {
          if (scheme.algorithm === 'jwt' && scheme.toleranceSeconds === undefined && seconds > 0)
            continue
          const old = signedAt(sender, Date.now() + seconds * 1000)
          t.equal(await send(host, old), 401, `${name}: of ${seconds} s`)
        }
      }
      t.equal(published.length, last, `${name}: nothing of it is an event`)
      if (!isSecretFree && !(scheme.algorithm === 'jwt' && scheme.key !== 'secret')) {
        host.secrets[name] = ''
        host.secrets[`first ${name}`] = ''
        t.equal(await send(host, request), 500, `${name}: without a secret`)
      }
    })
  }
})

t.test('a fragment in the request target is refused, whatever the source', async (t) => {
  const { app, published } = hostOfAll(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  for (const { path } of senders) {
    for (const fragment of ['#', '#&bodySHA256=x', '?a=1#b']) {
      const asked = request({ port, method: 'POST', path: path + fragment, agent: false }).end('{}')
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.resume()
      t.equal(answer.statusCode, 400, path + fragment)
    }
  }
  t.strictSame(published, [])
})
