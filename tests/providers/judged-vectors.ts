// Judges all vectors with @svc/providers, in whatever runtime runs it, and prints those that it gets wrong.
import { providers, type PlainRequest, type Provider, type ProviderId } from '@svc/providers'
import { presets, type Preset } from '@svc/providers/presets'
import { vectors, type Vector } from './vectors.ts'

const now = Date.now

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

/**
 * The chain of PayPal's certificate leads to a root that is made for the vector. HubSpot signs its
 * values without anything between: of bodies only JSON is told from the rest.
 */
const judged = vectors.filter(
  ({ provider, certificate, method, body }) =>
    certificate === undefined &&
    (!provider.startsWith('hubspot') || method === 'GET' || isJson(body)),
)

const originOf = ({ url = 'https://example.com/hooks' }: Vector): string =>
  url.slice(0, url.indexOf('/', url.indexOf('//') + 2))

function providerOf(vector: Vector): Provider {
  const id = vector.provider as ProviderId
  const { secret, needs = [] }: Preset = presets[id]
  const { keySet } = vector
  const values: Record<string, string> = {
    publicOrigin: originOf(vector),
    verifyToken: 'a token',
    topicArn: 'arn:aws:sns:eu-west-1:1:t',
    webhookId: vector.webhookId ?? 'webhook',
    clientId: 'client',
    username: 'user',
    bundleId: 'com.example',
  }
  const names = needs.map((need) => (need === 'verifyTokenSecretName' ? 'verifyToken' : need))
  const make = providers[id] as (options: object) => Provider
  return make({
    ...(secret !== null && { secret: vector.secret ?? vector.publicKey }),
    ...Object.fromEntries(names.map((name) => [name, values[name]])),
    ...(keySet !== undefined && { fetch: async () => new Response(keySet) }),
    ...vector.options,
  })
}

const wrong: string[] = []
for (const vector of judged) {
  const { id, method, url = 'https://example.com/hooks', headers, body, valid } = vector
  Date.now = () => (vector.now === undefined ? now() : vector.now * 1000)
  const provider = providerOf(vector)
  const plain: PlainRequest = { method, url, headers, body }
  const web = new Request(url, { method, headers, ...(method !== 'GET' && { body }) })
  for (const [form, request] of Object.entries({ plain, web })) {
    const verification = await provider.verify(request)
    if (verification.ok !== valid) {
      wrong.push(`${id} (${form}): ${verification.ok ? 'accepted' : verification.reason}`)
    }
  }
}
const runtime = 'Deno' in globalThis ? 'Deno' : 'Node'
console.log(JSON.stringify({ runtime, judged: judged.length, wrong }))
