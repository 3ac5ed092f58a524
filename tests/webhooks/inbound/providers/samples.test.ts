import t from 'tap'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import type { InboundRequest, InboundSource } from '@svc/webhooks'
import { samples } from '../../../providers/samples/all.ts'
import type { Sample } from '../../../providers/samples/sample.ts'
import { vectors } from '../../../providers/vectors.ts'
import { presets } from '../../../../packages/providers/src/presets/all.ts'
import type { Preset } from '../../../../packages/providers/src/preset.ts'
import { needsOf } from '../../../providers/needs.ts'

function sourceOf(id: ProviderId, preset: Preset): InboundSource {
  const options = {
    path: '/hooks',
    ...(preset.secret !== null && { secretName: 'SECRET' }),
    ...needsOf(preset),
  }
  return (providers[id] as (options: object) => InboundSource)(options)
}

/** The sample as the functions of a source see it, without a signature. */
function requestOf({ headers = {}, body, contentType = 'application/json' }: Sample) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = { 'content-type': contentType, ...headers }
  const request = {
    method: 'POST',
    url: '/hooks',
    headers: all,
    rawHeaders: Object.entries(all).flat(),
    rawBody: Buffer.from(text),
  } as unknown as InboundRequest
  return { request, text }
}

const asName = (id: string, type: string): string =>
  `${id}.${type.replaceAll(/[^A-Za-z0-9_.\-/]/g, '_')}`

/** Senders whose keys are of what a verification finds signed. */
const keyOfVerified: readonly string[] = [
  'appStore',
  'ghost',
  'knock',
  'mercadoPago',
  'plaid',
  'qstash',
  'sanity',
  'webflow',
]

for (const [id, row] of Object.entries(presets) as [ProviderId, Preset][]) {
  t.test(`a sample of ${row.name} is published under its type`, async (t) => {
    const { publishAs, split, deduplicationKey } = sourceOf(id, row)
    for (const sample of samples[id]) {
      const { request, text } = requestOf(sample)
      const field = new URLSearchParams(text).get(row.unwrap ?? '')
      const parsed: unknown =
        typeof sample.body === 'string' && !row.unwraps ? JSON.parse(field ?? 'null') : sample.body
      const item = split ? split(parsed)[0] : undefined
      const name = typeof publishAs === 'function' ? publishAs(request, text, item) : publishAs
      t.equal(name, asName(id, sample.type), sample.type)
      if (row.deduplicate && !keyOfVerified.includes(id)) {
        t.type(deduplicationKey?.(request, text, item), 'string', 'has a key')
      }
    }
  })
}

t.test('each preset names the evidence that it was checked against', async (t) => {
  const rows: Preset[] = Object.values(presets)
  for (const { name, docs, evidence } of rows) {
    t.match(docs, /^https:\/\/[^\s]+$/, name)
    t.ok(evidence.length > 3, name)
  }
  const published = new Set(
    vectors.flatMap(({ provider, valid, source }) =>
      valid && source.type === 'published' ? [provider] : [],
    ),
  )
  t.strictSame(
    Object.entries<Preset>(presets)
      .flatMap(([id, { checked }]) => (checked === 'vector' ? [id] : []))
      .toSorted(),
    [...published].toSorted(),
    'those with a published vector, and no others, are checked by one',
  )
  t.equal(new Set(rows.map(({ name }) => name)).size, rows.length, 'each name once')
  t.ok(rows.length >= 60, 'at least sixty')
})
