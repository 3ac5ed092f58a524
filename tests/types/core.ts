// What a host may write with core, and what must not compile: checked by `tsc`, never run.
import svcCore, {
  InvalidOption,
  svcCore as named,
  type Db,
  type EventContext,
  type Events,
  type KeyValueStore,
  type Secrets,
  type Svc,
  type SvcCoreOptions,
} from '@svc/core'
import Fastify from 'fastify'
import pg from 'pg'

interface Invoice {
  id: string
  total: number
}

declare module '@svc/core' {
  interface SvcActions {
    'invoices.create': (input: { customer: string; total: number }) => Promise<Invoice>
    'invoices.list': () => Promise<Invoice[]>
  }
}

const app = Fastify()
await app.register(svcCore)
await app.register(named, { database: 'postgres://localhost/app', worker: { maxAttempts: 12 } })
await app.register(svcCore, { database: new pg.Pool() })
await app.register(svcCore, { database: process.env.DATABASE_URL })
await app.register(svcCore, {
  database: { host: 'db' },
  secrets: async (name) => name,
  eventRetentionDays: 7,
})

const options: SvcCoreOptions = {}
await app.register(svcCore, options)
// @ts-expect-error -- no such option
await app.register(svcCore, { databse: '' })
// @ts-expect-error -- a number, not text
await app.register(svcCore, { worker: { maxAttempts: '12' } })

const svc: Svc = app.svc
const pool: pg.Pool = svc.database
const events: Events = svc.events
const kv: KeyValueStore = svc.kv
const secrets: Secrets = svc.secrets
const secret: string | null = await secrets.get('NAME')

svc.actions.register('invoices.create', async ({ customer, total }) => ({ id: customer, total }))
const invoice: Invoice = await svc.actions.call('invoices.create', { customer: 'c', total: 5 })
const invoices: Invoice[] = await svc.actions.call('invoices.list')
const names: string[] = svc.actions.names()
// @ts-expect-error -- no such action
await svc.actions.call('invoices.crate', { customer: 'c', total: 5 })
// @ts-expect-error -- the argument is missing
await svc.actions.call('invoices.create')
// @ts-expect-error -- a field is missing
await svc.actions.call('invoices.create', { customer: 'c' })
// @ts-expect-error -- a field has another type
await svc.actions.call('invoices.create', { customer: 'c', total: '5' })
// @ts-expect-error -- there is no argument
await svc.actions.call('invoices.list', 5)
// @ts-expect-error -- another result
const wrong: string = await svc.actions.call('invoices.list')
// @ts-expect-error -- a handler of another type
svc.actions.register('invoices.list', async () => 'none')

await events.subscribe('order.created', async (payload: Invoice, event: EventContext) => {
  const { id, name, publishedAt, attempt, signal } = event
  app.log.info({
    id,
    name,
    at: publishedAt.getTime(),
    attempt,
    aborted: signal.aborted,
    total: payload.total,
  })
})
await events.subscribe('a', () => {}, {
  subscription: 's',
  idempotent: false,
  timeoutSeconds: 5,
  concurrency: 2,
})
// @ts-expect-error -- no such option
await events.subscribe('a', () => {}, { retries: 3 })
const { id, duplicate }: { id: string; duplicate: boolean } = await events.publish('a', {
  any: 'thing',
})
// @ts-expect-error -- an id is text
await events.publish('a', 1, { id: 5 })

const client = await pool.connect()
await events.publish('a', 1, { id, db: client })
const adapter: Db = { query: async (_text: string, _values?: unknown[]) => ({ rows: [] }) }
await events.publish('a', 1, { db: adapter })
// @ts-expect-error -- nothing to ask
await events.publish('a', 1, { db: {} })
await events.unsubscribe('s')

const entry: Invoice | undefined = await kv.get<Invoice>('key')
const isFirst: boolean = await kv.setIfAbsent(
  'key',
  { any: 'thing' },
  { ttlSeconds: 60, db: client },
)
const sum: number = await kv.increment('n', { by: 2 })
// @ts-expect-error -- a time in seconds
await kv.set('key', 1, { ttlSeconds: '60' })

const error = new InvalidOption('what is wrong')
const code: string = error.code

export { code, duplicate, entry, invoice, invoices, isFirst, names, secret, sum, wrong }
