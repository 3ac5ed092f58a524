import t from 'tap'
import type { InboundSource } from '@svc/webhooks'
import { hostOf } from './host.ts'

t.test('bodies are kept byte for byte, also where they are the payload of the event', async (t) => {
  const source: InboundSource = {
    path: '/hooks/any',
    verify: () => true,
    publishAs: 'any.came',
    deduplicationKey: ({ headers }) => String(headers['x-id']),
  }
  const host = await hostOf(
    t,
    {
      any: source,
      // Its events have no deduplication key: they are published with others of the host.
      repeated: { path: '/hooks/repeated', verify: () => true, publishAs: 'any.came' },
    },
    { inboundLog: { keepDays: 1, rawBodies: true } },
  )
  const json = 'application/json'
  const bodies: [type: string, body: Buffer][] = [
    [json, Buffer.from('{"a":1}')],
    [json, Buffer.from('{\n\t"quote": "\\" \\\\ {é,💡} \\u0000",\r\n "n": 1e400 }\n')],
    [json, Buffer.from('\uFEFF{"with":"a byte order mark"}')],
    [json, Buffer.from('null')],
    ['text/plain', Buffer.from('"text"')],
    ['application/x-www-form-urlencoded', Buffer.from('a=1&b=%00')],
    ['application/octet-stream', Buffer.from([0, 255, 34, 92, 123])],
    ['application/octet-stream', Buffer.alloc(0)],
  ]
  const send = (url: string, n: number, type: string, payload: Buffer) =>
    host.app.inject({
      method: 'POST',
      url: `${url}?n=${n}`,
      headers: { 'content-type': type, 'x-id': `${n}` },
      payload,
    })
  const hostsOwn = bodies.map((_, n) => host.app.svc.events.publish('host.own', { n }))
  for (const url of ['/hooks/any', '/hooks/repeated']) {
    const answers = await Promise.all(bodies.map(([type, body], n) => send(url, n, type, body)))
    t.ok(answers.every(({ statusCode }) => statusCode === 202 || statusCode === 200))
  }
  await send('/hooks/any', 0, json, Buffer.from('{"a":"a repeat"}'))
  await Promise.all(hostsOwn)

  const { rows } = await host.app.svc.database.query<{ url: string; body: Buffer; event: string }>(
    `select log.url, log.body, event.payload as event
       from svc."__svc.webhooks.inbound_log" as log
       left join svc."__svc.events" as event on event.name = log.event and event.id = log.event_id`,
  )
  t.equal(rows.length, 2 * bodies.length + 1)
  for (const [n, [type, body]] of bodies.entries()) {
    for (const url of ['/hooks/any', '/hooks/repeated']) {
      const row = rows.find((one) => one.event !== null && one.url === `${url}?n=${n}`)
      t.ok(row?.body.equals(body), `${type} to ${url}: ${row?.body}`)
      if (type === json) t.equal(`${row?.event}`, body.toString().replace('\uFEFF', ''))
    }
  }
  const repeats = rows.filter((row) => row.event === null)
  t.match(repeats, [{ url: '/hooks/any?n=0', body: null }], 'a repeat fills no disk')
})
