import { managementApi, operationFor, operationRoutes } from '@svc/core/internal'
import { Type } from '@sinclair/typebox'
import { pageOf, sendPage } from '../../../packages/core/src/http/pagination.ts'
import type { LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { newHost } from '../../support/new-host.ts'

/** An API of five items, in pages of two by default. */
async function host(t: Test) {
  const app = newHost(t)
  const items = Array.from({ length: 5 }, (_, i) => ({
    id: `00000000-0000-4000-8000-00000000000${i}`,
  }))
  const list = operationFor<object>()({
    input: Type.Object({
      limit: Type.Optional(Type.Integer()),
      after: Type.Optional(Type.String()),
    }),
    output: Type.Array(Type.Object({ id: Type.String() })),
    routes: { 'GET /': { limit: 2, summary: 'List items' } },
    async run(_, { limit = 5, after }) {
      const from = after ? items.findIndex(({ id }) => id === after) + 1 : 0
      return items.slice(from, from + limit)
    },
  })
  await managementApi(app, '/_items', (api) =>
    operationRoutes(api, { list }, { tag: 'items', callerOf: () => ({}), config: () => ({}) }),
  )
  return app
}

t.test('pages follow their links to the end', async (t) => {
  const app = await host(t)
  const ids: string[] = []
  let url: string | undefined = '/_items'
  let pages = 0
  while (url) {
    const reply: LightMyRequestResponse = await app.inject({ url })
    ids.push(...reply.json<{ id: string }[]>().map(({ id }) => id.slice(-1)))
    url = /^<([^>]+)>; rel="next"$/.exec(String(reply.headers['link'] ?? ''))?.[1]
    pages++
  }
  t.strictSame(ids, ['0', '1', '2', '3', '4'])
  t.equal(pages, 3)
})

const targets: [url: string, path: string][] = [
  ['/_items?limit=1', '/_items'],
  ['//evil.example/_items', '/evil.example/_items'],
  ['http://evil.example/_items?x=1', '/_items'],
  ['/_items#x', '/_items'],
]
for (const [url, path] of targets) {
  t.test(`the page after ${url} is no other origin's`, async (t) => {
    const links: string[] = []
    const sent: unknown[] = []
    const reply = {
      header: (_name: string, value: string) => links.push(value),
      send: (rows: unknown) => sent.push(rows),
    }
    sendPage({ url } as never, reply as never, 1, pageOf([{ id: 'a' }, { id: 'b' }], 1))
    t.strictSame(sent, [[{ id: 'a' }]])
    t.ok(links[0]?.startsWith(`<${path}?`), String(links[0]))
  })
}

t.test('a link to the next page keeps the other parameters', async (t) => {
  const app = await host(t)
  t.match((await app.inject({ url: '/_items?limit=3' })).headers['link'], '</_items?limit=3&after=')
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=1.5',
    'after=x',
    'after=urn:uuid:0190a1b2-0000-7000-8000-000000000000',
    'limit=1&limit=2',
    'size=1',
  ]) {
    const reply = await app.inject({ url: `/_items?${query}` })
    t.match(
      reply.json(),
      { statusCode: 400, code: 'SVC_INVALID_INPUT', message: /^querystring/ },
      query,
    )
  }
})
