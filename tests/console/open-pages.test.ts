/** How many pages may be open, and listen to changes, at a time. */
import t from 'tap'
import type { Identity } from '../../packages/console/src/access/identity.ts'
import { Live } from '../../packages/console/src/live/live.ts'

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
}

const NEWEST = { deliveries: null, inbound: null, changes: [] }

for (const [who, identity, most] of [
  ['one session', { ...HOST, sessionId: 's', userId: 'ada' }, 20],
  ['one user of the host', { ...HOST, userId: 'ada' }, 20],
  ['people whom the host does not name', HOST, 1000],
] as const) {
  t.test(`of ${who} ${most} pages are open at most: the oldest one makes room`, async (t) => {
    const live = new Live({ findNewest: async () => NEWEST, log: { debug: () => {} } })
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
