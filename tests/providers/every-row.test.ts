// Every row × what may come: its own requests are taken, now and in every form, and no others.
import t from 'tap'
import { providers, type PlainRequest, type Provider, type ProviderId } from '@svc/providers'
import type { Preset } from '../../packages/providers/src/preset.ts'
import type { Scheme } from '../../packages/providers/src/preset-schemes.ts'
import { certificateFor, eventOf, keys } from '../webhooks/inbound/providers/genuine.ts'
import { signed, type Keys, type Signed } from '../webhooks/inbound/providers/sign.ts'
import { needsOf, ROWS } from './needs.ts'

type Options = Record<string, unknown>
const make = (id: ProviderId, options: Options): Provider =>
  (providers[id] as (options: object) => Provider)(options)

/** The chain of PayPal's certificate leads to a root of Node, which no test has the key of. */
const isTestable = (scheme: Scheme): boolean =>
  !('signature' in scheme && scheme.key?.certificate?.issuers !== undefined)

function optionsOf(preset: Preset, scheme: Scheme, own: Keys): Options {
  const { verifyTokenSecretName, ...needs } = needsOf(preset)
  return {
    ...needs,
    ...(preset.secret !== null && { secret: own.secret }),
    ...(verifyTokenSecretName !== undefined && { verifyToken: 'a token' }),
    fetch: async () => new Response(certificateFor(scheme, own).body),
  }
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

const bindsBody = (scheme: Scheme): boolean => {
  if (scheme.binds?.some(({ of = '{body}' }) => of === '{body}')) return true
  if (scheme.algorithm === 'jwt') return scheme.detached !== undefined
  return 'signature' in scheme && /body\}|\{params\}|\{form:/.test(scheme.signed ?? '{body}')
}

function toleranceOf(scheme: Scheme): number | undefined {
  if (scheme.algorithm === 'jwt') return scheme.toleranceSeconds
  return 'timestamp' in scheme ? scheme.timestamp?.toleranceSeconds : undefined
}

for (const [id, preset] of ROWS) {
  for (const [place, scheme] of preset.schemes.entries()) {
    if (!isTestable(scheme)) continue
    t.test(`${id}, scheme ${place}: its own requests, and no others`, async (t) => {
      const own = keys(scheme)
      const options = optionsOf(preset, scheme, own)
      const provider = make(id, options)
      const event = eventOf(preset, scheme)
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
      const upper = Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value]))
      t.strictSame(await verify({ headers: upper }), verified, 'headers in capitals')

      for (const name of proofs(scheme)) {
        const { [name]: value = '', ...others } = genuine.headers
        await refused(`no ${name}`, { headers: others })
        await refused(`an empty ${name}`, { headers: { ...others, [name]: '' } })
        await refused(`${name} twice`, { headers: { ...others, [name]: [value, value] } })
        const joined = `${value}, ${value}`
        if (!('signature' in scheme && scheme.signature.separator)) {
          await refused(`${name} joined`, { headers: { ...others, [name]: joined } })
        }
        await refused(`a part of ${name}`, { headers: { ...others, [name]: value.slice(0, -3) } })
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
        const patient = make(id, { ...options, toleranceSeconds: tolerance + 600 })
        if (scheme.algorithm !== 'jwt') {
          t.match(await patient.verify(late), { ok: true }, 'late, and the host is patient')
        }
      }
      if (preset.secret === null) return
      for (const secret of ['', [], [''], undefined, null]) {
        t.throws(() => make(id, { ...options, secret }), { name: 'TypeError' }, `secret ${secret}`)
      }
      const listed = make(id, { ...options, secret: [own.secret, own.secret] })
      t.strictSame(await verify({}, listed), verified, 'a list of secrets')
      const asked = make(id, { ...options, secret: async () => own.secret })
      t.strictSame(await verify({}, asked), verified, 'a function')
      await refused('no secret for it', {}, make(id, { ...options, secret: () => null }))
    })
  }
}
