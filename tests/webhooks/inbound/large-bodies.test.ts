/** Lists of inbound requests whose bodies would not fit into memory together. */
import t from 'tap'
import type { LoggedRequest } from '@svc/webhooks'
import { insertInboundRows } from '../../../packages/webhooks/src/tables/inbound-log.ts'
import { startHost } from '../support/host.ts'
import { rowAt } from '../support/inbound-row.ts'

const MIB = 1_048_576

const sizesOf = (rows: LoggedRequest[]) => rows.map(({ body }) => body?.length ?? null)

t.test('a page of inbound requests is bounded by the bytes of its bodies', async (t) => {
  const { app, ask } = await startHost(t, {
    core: { worker: { enabled: false } },
    inbound: { a: { path: '/a', publishAs: 'order.created', verify: () => true } },
  })
  const bodies = [5 * MIB, 5 * MIB, null, 2, 1]
  const now = Date.now()
  await insertInboundRows(
    app.svc.database,
    bodies.map((bytes, place) =>
      // Newest first.
      rowAt(now - place, { body: bytes === null ? null : Buffer.alloc(bytes, 'a') }),
    ),
  )
  const { listInbound } = app.svc.webhooks

  const first = await ask('GET', '/inbound?limit=4')
  t.strictSame(sizesOf(first.body), [5 * MIB, 5 * MIB, null])
  const next = /^<\/_webhooks(.+)>; rel="next"$/.exec(String(first.headers['link']))?.[1]
  const second = await ask('GET', next ?? '')
  t.strictSame(sizesOf(second.body), [2, 1])
  t.notOk(second.headers['link'])

  t.strictSame(sizesOf(await listInbound({ after: first.body[1].id })), [null, 2, 1])
  const without = await listInbound({ bodyBytes: 0 })
  t.strictSame(sizesOf(without), [null, null, null, null, null])
  t.strictSame(
    without.map(({ bodyLeftOut = false }) => bodyLeftOut),
    [true, true, false, true, true],
  )
  await t.rejects(listInbound({ bodyBytes: -1 }), /bodyBytes.*>= 0/)
})
