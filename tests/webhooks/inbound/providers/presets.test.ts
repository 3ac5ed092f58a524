// Every preset: a genuine request, a repeat, a forged one, an old one, a wrong secret.
import t from 'tap'
import type { SecretLookup } from '@svc/webhooks'
import type { Scheme } from '../../../../packages/providers/src/preset-schemes.ts'
import { ROWS } from '../../../providers/needs.ts'
import { eventOf, isFetched, keys, make, NOW_MS, providerClientFor, requestOf } from './genuine.ts'
import { signed, type Signed } from './sign.ts'

/** The request with one character of its signature, or of its token, changed. */
function forged(scheme: Scheme, request: Signed): Signed {
  const [place = ''] =
    'signature' in scheme
      ? [scheme.signature.in].flat()
      : 'in' in scheme
        ? [scheme.in]
        : ['header:authorization']
  const name = place.slice(place.indexOf(':') + 1)
  const flipped = (text: string) => {
    const at = text.replace(/[^A-Za-z0-9]+$/, '').length - 2
    return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1)
  }
  if (place.startsWith('header:')) {
    const headers = { ...request.headers, [name]: flipped(request.headers[name] ?? '') }
    return { ...request, headers }
  }
  const last = name.split('.').at(-1) ?? ''
  const inBody = place.startsWith('form:')
    ? new RegExp(`(${last}=)([^&]+)`)
    : new RegExp(`("${last}":")([^"]+)`)
  return {
    ...request,
    body: request.body.replace(
      inBody,
      (_, before: string, value: string) => before + flipped(value),
    ),
  }
}

/** Whether the secret is the key: of a key that is fetched it only opens the door to that. */
const isKey = (scheme: Scheme): boolean =>
  !isFetched(scheme) &&
  !('signature' in scheme && scheme.key?.jwks !== undefined) &&
  !(scheme.algorithm === 'jwt' && scheme.key !== 'secret')

const bindsBody = (scheme: Scheme): boolean =>
  scheme.binds?.some(({ of = '{body}' }) => of === '{body}') === true ||
  ('signature' in scheme && /(?:\{|hex:)(?:body|params|crc32)\}/.test(scheme.signed ?? '{body}')) ||
  (scheme.algorithm === 'jwt' && scheme.detached !== undefined)

const toleranceOf = (scheme: Scheme): number | undefined => {
  if ('timestamp' in scheme) return scheme.timestamp?.toleranceSeconds
  return scheme.algorithm === 'jwt' ? scheme.toleranceSeconds : undefined
}

for (const [id, preset] of ROWS) {
  t.test(`${id}: genuine requests are accepted, forged and old ones refused`, async (t) => {
    t.intercept(Date, 'now', { value: () => NOW_MS })
    const source = make(id, preset)
    for (const [place, scheme] of preset.schemes.entries()) {
      const name = `scheme ${place}`
      const own = keys(scheme)
      const providerClient = providerClientFor(scheme, own)
      const look: SecretLookup = () => own.secret || null
      const verify = (request: Signed, lookup = look) =>
        source.verify(requestOf(request), request.body, lookup, providerClient)
      const event = eventOf(preset, scheme)
      const genuine = signed(scheme, event, own, NOW_MS)

      t.equal(await verify(genuine), true, `${name}: genuine`)
      t.equal(await verify(forged(scheme, genuine)), false, `${name}: another signature`)
      if (bindsBody(scheme)) {
        const body = genuine.body.replace(/[\]}]?$/, (end) => ` ${end}`)
        t.equal(await verify({ ...genuine, body }), false, `${name}: another body`)
      }
      const tolerance = toleranceOf(scheme)
      if (tolerance !== undefined) {
        const ago = NOW_MS - (tolerance + 2) * 1000
        t.equal(await verify(signed(scheme, event, own, ago)), false, `${name}: old`)
        const ahead = NOW_MS + (tolerance + 2) * 1000
        t.equal(await verify(signed(scheme, event, own, ahead)), false, `${name}: of the future`)
      }
      if (isKey(scheme)) {
        const other = keys(scheme).secret
        const wrong =
          other === own.secret
            ? `${scheme.secretBegins ?? ''}${other.split('').toReversed().join('')}`
            : other
        const verdict = Promise.resolve(verify(genuine, () => wrong)).catch(() => false)
        t.equal(await verdict, false, `${name}: a wrong secret`)
        await t.rejects(async () => verify(genuine, () => null), {
          code: 'SVC_WEBHOOKS_SECRET_MISSING',
        })
      }
    }
  })
}
