/** Code of the host that waits for a Postgres that accepts statements and answers none, or is away. */
import type { Svc } from '@svc/core'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { until } from '../support/until.ts'
import { AUTH, UNKNOWN, WEBHOOKS, type Row } from '../support/operations.ts'
import { wholeHost } from '../support/whole-host.ts'

/** Below the time limits of statements, and far above the two seconds that these calls wait. */
const SOON_MS = 12_000

/** Operations that ask Postgres nothing. */
const LOCAL = ['sealBootstrapKey', 'listScopes', 'listEvents', 'listSources', 'testInbound']
/** These wait for as long as a statement of their own may take: see docs/how-it-works/several-processes.md. */
const LONGER = [
  'events.publish',
  'publish with an id',
  'events.subscribe',
  'events.unsubscribe',
  'transaction',
]

type Call = (svc: Svc) => unknown
type Methods = Record<string, Record<string, (...args: unknown[]) => unknown>>
const CALLS: { [Part in 'events' | 'kv' | 'audit']: Record<keyof Svc[Part], Call> } = {
  events: {
    publish: ({ events }) => events.publish('order.created', 1),
    subscribe: ({ events }) => events.subscribe('order.shipped', () => {}),
    unsubscribe: ({ events }) => events.unsubscribe('order.created'),
    search: ({ events }) => events.search(),
    find: ({ events }) => events.find('order.created', 'one'),
    deadLetters: ({ events }) => events.deadLetters('order.created'),
    redrive: ({ events }) => events.redrive('order.created'),
    pause: ({ events }) => events.pause('order.created'),
    resume: ({ events }) => events.resume('order.created'),
  },
  kv: {
    get: ({ kv }) => kv.get('key'),
    set: ({ kv }) => kv.set('key', 1),
    delete: ({ kv }) => kv.delete('key'),
    setIfAbsent: ({ kv }) => kv.setIfAbsent('key', 1),
    increment: ({ kv }) => kv.increment('count'),
  },
  audit: { list: ({ audit }) => audit.list() },
}

const calls: [name: string, call: Call][] = [
  ['eraseTenant', (svc) => svc.eraseTenant('acme')],
  ['transaction', (svc) => svc.transaction((db) => db.query('select 1'))],
  ['publish with an id', ({ events }) => events.publish('order.created', 1, { id: '1' })],
  ['a feed that waits', ({ webhooks }) => webhooks.feed({ after: 'start', wait: 20 })],
  ...Object.entries(CALLS).flatMap(([part, functions]) =>
    Object.entries<Call>(functions).map(([name, call]): [string, Call] => [
      `${part}.${name}`,
      call,
    ]),
  ),
  ...Object.entries({ auth: AUTH, webhooks: WEBHOOKS }).flatMap(([part, rows]) =>
    Object.entries<Row>(rows)
      .filter(([name]) => !LOCAL.includes(name))
      .map(([name, { asked }]): [string, Call] => [
        `${part}.${name}`,
        (svc) => (svc as never as Methods)[part]![name]!(...asked(UNKNOWN)[0]),
      ]),
  ),
]

t.test(
  'each operation rejects while Postgres is unavailable, and waits for a silent one no longer than a request',
  async (t) => {
    const proxy = await proxyPostgres(t, await freshDatabase(t))
    const app = await wholeHost(t, { database: { connectionString: proxy.url, max: 5 } })
    await app.ready()
    const { svc } = app
    for (const [part, functions] of Object.entries(CALLS)) {
      t.same(Object.keys(svc[part as 'kv']).sort(), Object.keys(functions).sort(), 'all are listed')
    }

    const areUnavailable = (asked: typeof calls, isDone: (name: string) => void) =>
      Promise.all(
        asked.map(async ([name, call]) => {
          const error = await (async () => call(svc))().catch((refusal: unknown) => refusal)
          t.match(error, { statusCode: 503, code: /^SVC_\w*UNAVAILABLE$/ }, name)
          t.notMatch((error as Error).message, /ECONN|terminated/, name)
          isDone(name)
        }),
      )
    proxy.silence()
    const beganMs = performance.now()
    await areUnavailable(
      calls.filter(([name]) => !LONGER.includes(name)),
      (name) => {
        const ms = Math.round(performance.now() - beganMs)
        t.ok(ms < SOON_MS, `${name}: ${ms} ms`)
      },
    )
    proxy.mend()
    await until(svc.health, ({ ok }) => ok)
    proxy.cut()
    await areUnavailable(calls, () => {})
    proxy.mend()
  },
)
