import t from 'tap'
import { BUILT_IN } from '../../../../packages/webhooks/src/outbound/transforms/built-in.ts'
import { checkedTransformed } from '../../../../packages/webhooks/src/outbound/transforms/transform.ts'

const input = {
  event: 'order.created',
  payload: { id: 7, note: '<!channel> & ``` @everyone' },
  tenant: 'acme',
  deliveryId: '018f4e5a-7b1c-7def-8abc-0123456789ab',
  publishedAt: new Date('2026-01-02T03:04:05.678Z'),
}

interface Given {
  event?: string
  payload?: unknown
  /** The payload as JSON text. */
  json?: string
  tenant?: string | null
}

async function made(name: string, given: Given = {}) {
  const { payload, ...rest } = { ...input, ...given }
  const json = given.json ?? JSON.stringify(payload)
  const { body, headers } = checkedTransformed(BUILT_IN[name]!.ofJson({ ...rest, json }), 'X-Svc-')!
  return { text: body, body: JSON.parse(body), headers }
}

t.test('slack shows the event and its payload, and mentions nobody', async (t) => {
  const { body, headers } = await made('slack')
  t.equal(headers.get('content-type'), 'application/json')
  t.equal(body.text, 'order.created')
  t.match(body.blocks[0], { type: 'header', text: { type: 'plain_text', text: 'order.created' } })
  const { text } = body.blocks[1].text
  t.match(text, /^```\{\n {2}"id": 7,\n {2}"note": "&lt;!channel&gt; &amp; ''' @everyone"\n\}```$/)
  t.equal(body.blocks[2].elements[0].text, `acme · ${input.deliveryId}`)
})

t.test('discord shows the event in an embed, and allows no mention', async (t) => {
  const { body } = await made('discord', { tenant: null })
  t.match(body, { allowed_mentions: { parse: [] }, embeds: [{ title: 'order.created' }] })
  t.match(body.embeds[0].description, /^```json\n\{[^`]*\}\n```$/)
  t.equal(body.embeds[0].footer.text, input.deliveryId)
})

t.test('teams shows the event in an adaptive card', async (t) => {
  const { body } = await made('teams')
  const [{ contentType, content }] = body.attachments
  t.equal(body.type, 'message')
  t.equal(contentType, 'application/vnd.microsoft.card.adaptive')
  t.match(content, { type: 'AdaptiveCard', version: '1.4', body: [{ text: 'order.created' }] })
  t.match(content.body[1].text, /"id": 7/)
})

t.test('a large payload is cut to what the services take', async (t) => {
  const payload = { text: '<&>😀'.repeat(20_000) }
  for (const name of ['slack', 'discord', 'teams']) {
    const { body, text } = await made(name, { payload })
    t.ok(text.isWellFormed() && !text.includes('\ufffd'), name)
    if (name === 'slack') {
      t.ok(body.blocks[1].text.text.length <= 3000)
      t.match(body.blocks[1].text.text, /(?:&lt;|&amp;|&gt;|😀)```$/)
    }
    if (name === 'discord') t.ok(body.embeds[0].description.length <= 4096)
    if (name === 'teams') t.ok(Buffer.byteLength(text) < 28_000)
  }
  t.equal((await made('slack', { payload: 'plain' })).body.blocks[1].text.text, '```plain```')
})

t.test('cloudevents has the attributes of CloudEvents 1.0 in structured mode', async (t) => {
  const { body, headers } = await made('cloudevents')
  t.equal(headers.get('content-type'), 'application/cloudevents+json; charset=utf-8')
  t.same(body, {
    specversion: '1.0',
    id: input.deliveryId,
    source: 'urn:svc:webhooks',
    type: 'order.created',
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    tenant: 'acme',
    data: input.payload,
  })
  t.notOk(Object.hasOwn((await made('cloudevents', { tenant: null })).body, 'tenant'))
})

t.test('payload is the payload itself, always as JSON', async (t) => {
  for (const json of [
    '{"id":9007199254740993,"total":1e400}',
    'null',
    '"text"',
    '[1.0]',
    'false',
  ]) {
    const { text, headers } = await made('payload', { json })
    t.equal(text, json)
    t.equal(headers.get('content-type'), 'application/json')
  }
})

t.test('numbers arrive as they were published', async (t) => {
  const json = '{"id":9007199254740993,"total":1e400,"delta":-0,"one":1.0,"list":[0.10,-1E-7]}'
  t.ok((await made('cloudevents', { json })).text.endsWith(`,"data":${json}}`))
  for (const name of ['slack', 'discord', 'teams']) {
    const { text } = await made(name, { json })
    for (const number of ['9007199254740993', '1e400', '-0', '1.0', '0.10', '-1E-7']) {
      t.ok(text.includes(`${number}${number === '-1E-7' ? '' : ','}`), `${name}: ${number}`)
    }
  }
  t.match(await made('cloudevents', { json: 'null', tenant: null }), {
    body: { data: null, id: input.deliveryId, specversion: '1.0', type: 'order.created' },
  })
})
