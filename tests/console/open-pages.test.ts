/** How many pages may be open, and listen to changes, at a time. */
import t from 'tap'
import { until } from '../support/until.ts'
import type { Identity } from '../../packages/console/src/access/identity.ts'
import { Live, type LiveParts } from '../../packages/console/src/live/live.ts'

const HOST: Identity = {
  via: 'host',
  sessionId: null,
  userId: null,
  keyId: null,
  tenant: 'acme',
  rights: [],
  scopes: [],
  expiresAt: null,
  isRestricted: false,
  mayLoosen: false,
  keyExpiresAt: null,
  look: { embed: false, colorScheme: 'auto' },
}

const NEWEST = { deliveries: null, inbound: null, changes: [] }
const PARTS: LiveParts = {
  findNewest: async () => NEWEST,
  findSessions: async (ids) => new Set(ids),
  log: { debug: () => {} },
}

for (const [who, identity, most] of [
  ['one session', { ...HOST, sessionId: 's', userId: 'ada' }, 20],
  ['one user of the host', { ...HOST, userId: 'ada' }, 20],
  ['people whom the host does not name', HOST, 1000],
] as const) {
  t.test(`of ${who} ${most} pages are open at most: the oldest one makes room`, async (t) => {
    const live = new Live(PARTS)
    t.teardown(() => live.close())
    const pages = Array.from({ length: most }, () => live.open(identity, async () => true))
    const other = live.open({ ...HOST, userId: 'grace' }, async () => true)
    t.ok(pages.every(({ body }) => body.writable))
    pages.push(live.open(identity, async () => true))
    t.strictSame(
      pages.flatMap(({ body }, place) => (body.writable ? [] : [place])),
      [0],
    )
    t.ok(other.body.writable)
  })
}

t.test('whatever number of sessions ends, the pages of all are looked at together', async (t) => {
  const asked: (readonly string[])[] = []
  const findSessions = async (ids: readonly string[]) => {
    asked.push(ids)
    return new Set(ids.filter((id) => id !== 'b'))
  }
  const live = new Live({ ...PARTS, findSessions })
  t.teardown(() => live.close())
  let checks = 0
  const isCurrent = async () => (checks++, true)
  const open = (sessionId: string | null) => live.open({ ...HOST, sessionId }, isCurrent)
  const pages = [open('a'), open('a'), open('b'), open(null)]
  for (let end = 0; end < 1000; end++) live.recheck()
  await until(
    async () => pages[2]?.body.writable,
    (isOpen) => isOpen === false,
  )
  t.strictSame(
    pages.map(({ body }) => body.writable),
    [true, true, false, true],
  )
  t.strictSame(asked, [['a', 'b']])
  t.equal(checks, 0)
})

t.test('a page whose session cannot be looked up ends, and asks again', async (t) => {
  const findSessions = async () => Promise.reject(new Error('away'))
  const live = new Live({ ...PARTS, findSessions })
  t.teardown(() => live.close())
  const page = live.open({ ...HOST, sessionId: 'a' }, async () => true)
  live.recheck()
  await until(
    async () => page.body.writable,
    (isOpen) => !isOpen,
  )
  t.notOk(page.body.writable)
})
