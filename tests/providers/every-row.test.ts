// Every row × what may come: its own requests are taken, now and in every form, and no others.
import t, { type Test } from 'tap'
import { providers, type PlainRequest, type Provider, type ProviderId } from '@svc/providers'
import type { Preset } from '../../packages/providers/src/preset.ts'
import type { Scheme } from '../../packages/providers/src/preset-schemes.ts'
import { certificateFor, eventOf, keys } from '../webhooks/inbound/providers/genuine.ts'
import { signed, type Keys, type Signed } from '../webhooks/inbound/providers/sign.ts'
import { chosen } from '../../packages/providers/src/engine/chosen.ts'
import { presets } from '../../packages/providers/src/presets/all.ts'
import { NEEDS, needsOf } from './needs.ts'

type Options = Record<string, unknown>
type Providers = typeof providers

/** PayPal's certificate leads to a root of Node, which no test has the key of: the test's own is trusted. */
const trusting = async (t: Test, scheme: Scheme, own: Keys): Promise<Providers> => {
  if (!('signature' in scheme && scheme.key?.certificate?.issuers)) return providers
  const { roots } = certificateFor(scheme, own)
  const mocked = await t.mockImport<{ providers: Providers }>(
    '../../packages/providers/src/index.ts',
    { 'node:tls': { rootCertificates: roots } },
  )
  return mocked.providers
}

function optionsOf(id: ProviderId, given: Options, scheme: Scheme, own: Keys): Options {
  const preset: Preset = presets[id]
  const { verifyTokenSecretName, ...needs } = given
  return {
    ...needs,
    ...(preset.secret !== null && { secret: own.secret }),
    ...(verifyTokenSecretName !== undefined && { verifyToken: 'a token' }),
    ...(preset.handshakes?.some(({ store }) => store) && { onHandshake: () => undefined }),
    fetch: async () => new Response(certificateFor(scheme, own).body),
  }
}

/** Options that a row may have, one at a time, besides those that its schemes are there for. */
const MAY_HAVE: Options = {
  header: 'x-of-the-customer',
  region: 'eu',
  publicOrigin: NEEDS.publicOrigin,
  appAppleId: '1234',
}

/** Another value of an option that a request is compared with. */
const OTHERS: Options = {
  publicOrigin: 'https://other.example',
  topicArn: 'arn:aws:sns:eu-west-1:123456789012:other',
  webhookId: 'other',
  serviceAccount: 'other@acme.iam.gserviceaccount.com',
  audience: 'https://other.example/hooks',
  username: 'other',
  publicKey: 'other',
  bundleId: 'com.example.other',
  appAppleId: '1235',
  header: 'x-other',
  // The roots of Apple.
  rootCertificates: undefined,
}

/** The options of `given` on which it depends whether requests of this scheme are genuine. */
function compared(id: ProviderId, place: number, given: Options): string[] {
  const scheme: Scheme = presets[id].schemes[place]!
  const written = JSON.stringify(scheme)
  return Object.keys(given).filter((name) => {
    if (name === 'username') return scheme.algorithm === 'basic'
    if (name === 'publicOrigin') return written.includes('{url}')
    if (name === 'rootCertificates') return written.includes('"x5c"')
    return name in OTHERS && written.includes(`option:${name}`)
  })
}

const web = ({ method, url, headers, body }: Signed): Request =>
  new Request(url, { method, headers, body })

/** The headers that show who the sender is. */
function proofs(scheme: Scheme): string[] {
  if (scheme.algorithm === 'basic') return ['authorization']
  const places = 'signature' in scheme ? [scheme.signature.in].flat() : [scheme.in]
  const times = 'timestamp' in scheme && scheme.timestamp ? [scheme.timestamp.in] : []
  return [...places.slice(0, 1), ...times].flatMap((place) =>
    place.startsWith('header:') ? [place.slice('header:'.length).toLowerCase()] : [],
  )
}

/** Where in the body it shows that. */
function proofsInBody(scheme: Scheme): string[] {
  if (scheme.algorithm === 'basic') return []
  const places = 'signature' in scheme ? [scheme.signature.in].flat() : [scheme.in]
  const times = 'timestamp' in scheme && scheme.timestamp ? [scheme.timestamp.in] : []
  return [...places, ...times].filter((place) => /^(?:json|item|form):/.test(place))
}

/**
 * A body with other values at a place. A name that JSON has twice is read as the last, for what is verified
 * and for the payload.
 */
function withValues(body: string, place: string, split: string | undefined, values: string[]) {
  const [kind, name = ''] = place.split(/:(.*)/s)
  if (kind === 'form') {
    const form = new URLSearchParams(body)
    form.delete(name)
    for (const value of values) form.append(name, value)
    return form.toString()
  }
  const root: unknown = JSON.parse(body)
  const list = kind === 'item' ? `${split === '' ? '' : `${split}.`}0.` : ''
  const path = `${list}${name}`.split('.')
  const parent = path
    .slice(0, -1)
    .reduce((at, one) => (at as Record<string, unknown>)[one], root) as Record<string, unknown>
  delete parent[path.at(-1)!]
  for (const value of values) parent[path.at(-1)!] = value
  return JSON.stringify(root)
}

const bindsBody = (scheme: Scheme): boolean => {
  if (scheme.binds?.some(({ of = '{body}' }) => of === '{body}')) return true
  if (scheme.algorithm === 'jwt') return scheme.detached !== undefined
  return 'signature' in scheme && /body\}|\{params\}|\{form:/.test(scheme.signed ?? '{body}')
}

/** Plaid's secret is no key: with it the keys are fetched. */
const isKey = (scheme: Scheme): boolean => scheme.algorithm !== 'jwt' || scheme.key === 'secret'

function otherSecret(scheme: Scheme, { secret }: Keys): string {
  const other = keys(scheme).secret
  return other === secret ? `${secret.slice(0, -2)}00` : other
}

function toleranceOf(scheme: Scheme): number | undefined {
  if (scheme.algorithm === 'jwt') return scheme.toleranceSeconds
  return 'timestamp' in scheme ? scheme.timestamp?.toleranceSeconds : undefined
}

const tested = new Set<string>()

for (const [id, row] of Object.entries(presets) as [ProviderId, Preset][]) {
  const needs = needsOf(row)
  const others = (row.mayNeed ?? []).filter((option) => !(option in needs))
  const variants = [
    needs,
    ...others.map((option) => ({ ...needs, [option]: MAY_HAVE[option] })),
  ] as Options[]
  for (const given of variants) {
    const preset = chosen(row, given)
    const more = Object.keys(given).filter((name) => !(name in needs))
    for (const [place, scheme] of preset.schemes.entries()) {
      const title = [`${id}, scheme ${place}`, ...more].join(', with ')
      tested.add(id)
      t.test(`${title}: its own requests, and no others`, async (t) => {
        const own = keys(scheme)
        const all = await trusting(t, scheme, own)
        const make = (options: Options) => (all[id] as (options: object) => Provider)(options)
        const options = optionsOf(id, given, scheme, own)
        const provider = make(options)
        const unsigned = eventOf(preset, scheme)
        const event = {
          ...unsigned,
          options: { ...unsigned.options, ...(given as Record<string, string>) },
        }
        const genuine = signed(scheme, event, own, Date.now())
        const verify = (changes: Partial<PlainRequest> = {}, by = provider) =>
          by.verify({ ...genuine, ...changes })
        const refused = async (what: string, changes: Partial<PlainRequest>, by = provider) =>
          t.match(await verify(changes, by), { ok: false, retry: false, reason: /./ }, what)

        const verified = await verify()
        t.match(verified, { ok: true, event: new RegExp(`^${id}\\.`) }, 'signed now')
        t.strictSame(await provider.verify(web(genuine)), verified, 'as a Request')
        t.strictSame(await verify({ body: Buffer.from(genuine.body) }), verified, 'as bytes')
        t.strictSame(await verify(), verified, 'a repeat has the same id')
        const entries = Object.entries(genuine.headers)
        const upper = Object.fromEntries(
          entries.map(([name, value]) => [name.toUpperCase(), value]),
        )
        t.strictSame(await verify({ headers: upper }), verified, 'headers in capitals')

        for (const name of proofs(scheme)) {
          const { [name]: value = '', ...others } = genuine.headers
          await refused(`no ${name}`, { headers: others })
          await refused(`an empty ${name}`, { headers: { ...others, [name]: '' } })
          await refused(`${name} twice`, { headers: { ...others, [name]: [value, value] } })
          const both = { ...others, [name]: value, [name.toUpperCase()]: value }
          await refused(`${name} twice, in other cases`, { headers: both })
          const joined = `${value}, ${value}`
          if (!('signature' in scheme && scheme.signature.separator)) {
            await refused(`${name} joined`, { headers: { ...others, [name]: joined } })
          }
          await refused(`a part of ${name}`, { headers: { ...others, [name]: value.slice(0, -3) } })
        }
        for (const at of proofsInBody(scheme)) {
          const having = (...values: string[]) => ({
            body: withValues(genuine.body, at, preset.split, values),
          })
          await refused(`no ${at}`, having())
          await refused(`an empty ${at}`, having(''))
          await refused(`another ${at}`, having('00'))
          if (at.startsWith('form:')) {
            const value = new URLSearchParams(genuine.body).get(at.slice('form:'.length))!
            await refused(`${at} twice`, having(value, value))
          }
        }
        if (bindsBody(scheme)) {
          await refused('another body', { body: genuine.body.replace(/.$/, (end) => ` ${end}`) })
          await refused('no body', { body: '' })
        }
        const tolerance = toleranceOf(scheme)
        if (tolerance !== undefined) {
          const late = signed(scheme, event, own, Date.now() - (tolerance + 5) * 1000)
          await refused('late', late)
          await refused('early', signed(scheme, event, own, Date.now() + (tolerance + 65) * 1000))
          const patient = make({ ...options, toleranceSeconds: tolerance + 600 })
          t.match(await patient.verify(late), { ok: true }, 'late, and the host is patient')
        }
        if ('timestamp' in scheme && scheme.timestamp) {
          const { unit = 'seconds' } = scheme.timestamp
          for (const other of ['seconds', 'milliseconds'] as const) {
            const written = { ...scheme, timestamp: { ...scheme.timestamp, unit: other } }
            const request = signed(written, event, own, Date.now())
            if (unit === other || unit === 'either') {
              t.match(await verify(request), { ok: true }, `in ${other}`)
            } else await refused(`in ${other}`, request)
          }
        }
        for (const name of compared(id, place, given)) {
          await refused(`another ${name}`, {}, make({ ...options, [name]: OTHERS[name] }))
        }
        if (preset.secret === null) return
        for (const secret of ['', [], [''], undefined, null]) {
          t.throws(() => make({ ...options, secret }), { name: 'TypeError' }, `secret ${secret}`)
        }
        const other = otherSecret(scheme, own)
        for (const secret of [[other, own.secret], [own.secret, other], async () => own.secret]) {
          t.strictSame(await verify({}, make({ ...options, secret })), verified, 'of several')
        }
        if (isKey(scheme)) await refused('another secret', {}, make({ ...options, secret: other }))
        for (const secret of [() => null, () => undefined, () => []]) {
          await refused('no secret for it', {}, make({ ...options, secret }))
        }
        const empty = make({ ...options, secret: () => '' })
        await t.rejects(empty.verify(genuine), { name: 'TypeError' }, 'an empty secret')
      })
    }
  }
}

t.test('no row is left out', async (t) => {
  t.strictSame(
    [...tested].toSorted(),
    providers
      .list()
      .map(({ id }) => id)
      .toSorted(),
  )
})
