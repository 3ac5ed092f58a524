// One host with every preset whose requests can be signed here: what comes twice is published once.
import t from 'tap'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import { signed, type SignedRequest } from '@svc/testing'
import type { InboundSource } from '@svc/webhooks'
import type { Preset } from '../../../../packages/providers/src/preset.ts'
import { NEEDS, needsOf, ORIGIN } from '../../../providers/needs.ts'
import type { Scheme } from '../../../../packages/providers/src/preset-schemes.ts'
import { presets } from '../../../../packages/providers/src/presets/all.ts'
import { hostOf, type Host } from '../host.ts'
import { hostOf as countingHostOf } from './counting-host.ts'
import { keysFor, type Keys } from './sign.ts'

const isFetched = (scheme: Scheme): boolean =>
  scheme.algorithm === 'jwt'
    ? scheme.key !== 'secret'
    : 'signature' in scheme && (scheme.key?.certificate ?? scheme.key?.jwks) !== undefined

interface Sender {
  id: ProviderId
  preset: Preset
  keys: Keys
}

const senders: Sender[] = (Object.entries(presets) as [ProviderId, Preset][]).flatMap(
  ([id, preset]) => {
    const scheme = preset.schemes.find((one) => !isFetched(one))
    return scheme ? [{ id, preset, keys: keysFor(scheme) }] : []
  },
)

function sourceOf({ id, preset }: Sender): InboundSource {
  const options = {
    path: `/hooks/${id}`,
    ...(preset.secret !== null && { secretName: id }),
    ...needsOf(preset),
  }
  return (providers[id] as (options: object) => InboundSource)(options)
}

function signedBy({ id, keys }: Sender): SignedRequest {
  const pem = keys.private?.export({ type: 'pkcs8', format: 'pem' }).toString()
  return signed(id, undefined, {
    ...NEEDS,
    url: `${ORIGIN}/hooks/${id}`,
    ...(pem === undefined ? { secret: keys.secret } : { privateKey: pem }),
  })
}

const send = ({ app }: Host, { id }: Sender, { headers, payload, url }: SignedRequest) =>
  app.inject({
    method: 'POST',
    url: new URL(url ?? `/hooks/${id}`, ORIGIN).pathname + new URL(url ?? '/', ORIGIN).search,
    headers: { host: 'example.com', ...headers },
    payload,
  })

async function outcomesOf({ app }: Host, source: string): Promise<string[]> {
  const { rows } = await app.svc.database.query<{ outcome: string }>(
    `select outcome from svc."__svc.webhooks.inbound_log" where source = $1 order by id`,
    [source],
  )
  return rows.map(({ outcome }) => outcome)
}

t.test(
  'each preset: a repeat is answered as the first request was, and published once',
  async (t) => {
    t.ok(senders.length > 100, 'nearly all presets')
    const host = await hostOf(
      t,
      Object.fromEntries(senders.map((sender) => [sender.id, sourceOf(sender)])),
      { secrets: Object.fromEntries(senders.map(({ id, keys }) => [id, keys.secret])) },
    )
    for (const sender of senders) {
      const { id, preset } = sender
      const request = signedBy(sender)
      const first = await send(host, sender, request)
      const repeat = await send(host, sender, request)
      t.ok(first.statusCode < 300, `${id}: ${first.statusCode} ${first.body}`)
      t.equal(repeat.statusCode, first.statusCode, id)
      const hasKey = preset.deduplicate !== undefined
      const expected = hasKey ? ['accepted', 'duplicate'] : ['accepted', 'accepted']
      t.strictSame(await outcomesOf(host, id), expected, id)
    }
  },
)

const TYPES = [
  '',
  'APPLICATION/JSON',
  'application/json; charset=utf-16',
  'application/vnd.x+json',
  'text/plain',
  'text/xml; charset=shift_jis',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=iso-8859-1',
  'multipart/form-data; boundary=x',
]
const VALUES = ['x', 'a:b', 'a b', undefined]
const QUERIES = ['?', '?a=1', '?data.id=1', '?bodySHA256=x', '?AccountSid1', '?a=1&a=2']
const AROUND = [' ', '\ufeff', '&a=b']

/** What the holder of a request may change: all that it has, and what its row reads. */
function changesOf({ id, preset }: Sender, sent: SignedRequest): SignedRequest[] {
  const { headers, payload } = sent
  const read = [...JSON.stringify(preset).matchAll(/header:([a-z0-9-]+)/g)].map(([, name]) => name)
  const names = [...new Set([...Object.keys(headers), ...read, 'idempotency-key'])] as string[]
  const at = sent.url ?? `${ORIGIN}/hooks/${id}`
  const request = { ...sent, url: at }
  return [
    ...TYPES.map((type) => ({ ...request, headers: { ...headers, 'content-type': type } })),
    ...names.flatMap((name) =>
      VALUES.map((value) => {
        const { [name]: _, ...others } = headers
        return { ...request, headers: value === undefined ? others : { ...others, [name]: value } }
      }),
    ),
    ...QUERIES.map((query) => ({ ...request, url: at + query })),
    ...AROUND.flatMap((text) => [
      { ...request, payload: payload + text },
      { ...request, payload: text + payload },
    ]),
  ]
}

t.test(
  'each preset that signs: whatever is changed of a request, it is one event of a name',
  async (t) => {
    const signing = senders.filter(
      ({ preset: { schemes, deduplicate } }) =>
        deduplicate !== undefined &&
        schemes.every(({ algorithm }) => algorithm !== 'token' && algorithm !== 'basic'),
    )
    t.ok(signing.length > 90)
    for (const sender of signing) {
      const { app, published, payloads } = countingHostOf(t, sourceOf(sender), {
        [sender.id]: sender.keys.secret,
      })
      const request = signedBy(sender)
      await send({ app } as Host, sender, request)
      const [before, payload] = [published.length, payloads[0]]
      for (const changed of changesOf(sender, request)) await send({ app } as Host, sender, changed)
      const names = published.slice(before - 1)
      t.equal(new Set(names).size, names.length, `${sender.id}: ${names}`)
      t.ok(
        payloads.slice(before).every((text) => text === payload),
        sender.id,
      )
    }
  },
)
