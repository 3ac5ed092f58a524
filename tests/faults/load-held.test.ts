// promise: A webhook whose receiver is slow, down or flooded delays other webhooks by no more than the stated bound
// promise: Guessed keys, slow bodies, publishes without an answer of Postgres and hanging receivers pile up to a bound, and delay others by no more than it
/** What strangers and receivers can pile up, and what it costs. `SVC_LOAD=long` piles up more. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify from 'fastify'
import t from 'tap'
import { receiver as openReceiver } from '@svc/testing'
import { generateKey } from '../../packages/auth/src/key-format.ts'
import { STATEMENT_TIMEOUT_MS } from '../../packages/core/src/postgres/query-timeout.ts'
import { readRawBodies } from '../../packages/webhooks/src/inbound/raw-body.ts'
import { startHost as startAuth } from '../auth/support/host.ts'
import { watchStatements } from '../auth/support/statements.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { until } from '../support/until.ts'
import { startHost } from '../webhooks/support/host.ts'

const isLong = process.env['SVC_LOAD'] === 'long'
const of = (short: number, long: number): number => (isLong ? long : short)
const MIB = 2 ** 20
/** What a busy machine may take longer. */
const BUSY_MS = of(20_000, 60_000)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes of the heap that are in use after a collection. */
function heapUsed(): number {
  collect()
  return process.memoryUsage().heapUsed
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** The last of each: how many statements they may cost in so many seconds, polls among them. */
const guesses: [string, number, () => string, (seconds: number) => number][] = [
  [
    'on one prefix',
    of(3000, 100_000),
    () => `svc_aaaa${Math.random().toString(36).slice(2)}`.padEnd(40, 'a'),
    // A hundred come at a time, before the prefix is blocked for a minute.
    (seconds) => 300 * (1 + seconds / 60),
  ],
  [
    'on as many prefixes',
    of(10_000, 1_000_000),
    () => generateKey('svc'),
    // The budget of lookups, which is less than these guesses would take.
    (seconds) => 2000 + 500 * seconds + 300,
  ],
]
for (const [title, count, guess, mostStatements] of guesses) {
  t.test(`guesses ${title} have bounded costs, and block no other key`, async (t) => {
    const { app, ask, makeKey } = await startAuth(t, {
      auth: { rateLimit: { maxAttempts: 5, windowMs: 60_000, blockDurationMs: 60_000 } },
      after: (host) => void host.get('/me', async () => 'me'),
    })
    const { key } = await makeKey()
    t.equal((await ask('GET', '/me', { key })).status, 200)
    const { texts } = watchStatements(app)
    const before = heapUsed()
    const startedAt = performance.now()
    const statuses = new Map<number, number>()
    let refused = 0
    for (let done = 0; done < count; done += 100) {
      const answers = await Promise.all(upTo(100).map(() => ask('GET', '/me', { key: guess() })))
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if ((await ask('GET', '/me', { key })).status !== 200) refused++
      await setImmediate()
    }
    const seconds = (performance.now() - startedAt) / 1000
    const said = `${texts.length} statements in ${seconds.toFixed(1)} s`
    t.comment(`${said}, answers by status:`, Object.fromEntries(statuses))
    t.ok(texts.length <= mostStatements(seconds), said)
    t.ok([...statuses.keys()].every((status) => [401, 429, 503].includes(status)))
    t.equal(refused, 0, 'a key that is in use is admitted all the time')
    t.ok(heapUsed() - before < 64 * MIB)
    // A key that the process does not know yet may have to wait while the budget of lookups is spent.
    const another = await makeKey()
    await until(async () => (await ask('GET', '/me', { key: another.key })).status === 200)
  })
}

t.test('bodies that do not end time out, and delay no others', async (t) => {
  const count = of(500, 10_000)
  const timeoutMs = of(5000, 10_000)
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(async (inbound) => {
    readRawBodies(inbound, { timeoutMs })
    inbound.post('/hook', async () => 'ok')
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  let opened = 0
  let ended = 0
  app.server.on('connection', (socket) => {
    opened++
    socket.once('close', () => ended++)
  })
  const before = heapUsed()
  const sender = fork(join(import.meta.dirname, 'endless-bodies.ts'), [`${port}`, `${count}`])
  t.teardown(() => sender.kill('SIGKILL'))
  const answers = once(sender, 'message')
  // On a busy machine the first ones may have timed out when the last one comes.
  await until(() => opened === count)
  t.ok(heapUsed() - before < count * 64 * 1024)
  const genuine = await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body: '{}' })
  t.equal(genuine.status, 200)
  t.ok(ended < count, 'while others still wait')
  const openedAt = performance.now()
  const [texts] = (await answers) as [string[]]
  t.equal(texts.length, count)
  t.ok(texts.every((answer) => answer.startsWith('HTTP/1.1 408 ')))
  t.match(texts[0], /SVC_WEBHOOKS_BODY_TOO_SLOW/)
  const tookMs = performance.now() - openedAt
  t.ok(tookMs < timeoutMs + BUSY_MS, `the last one after ${Math.round(tookMs)} ms`)
})

t.test(
  'while Postgres is silent publishes are refused in time, and no memory is kept',
  { skip: !isLong && 'each waits for the time-out of a statement: SVC_LOAD=long' },
  async (t) => {
    const database = await freshDatabase(t)
    const proxy = await proxyPostgres(t, database)
    const { app } = await startHost(t, { database: proxy.url })
    const { events } = app.svc
    await events.publish('order.created', {})
    const before = heapUsed()
    proxy.silence()
    const startedAt = performance.now()
    const codes = await Promise.all(
      upTo(400_000).map((n) =>
        events.publish('order.created', { n }).then(
          () => 'published',
          ({ code }: { code: string }) => code,
        ),
      ),
    )
    t.strictSame([...new Set(codes)], ['SVC_UNAVAILABLE'])
    const tookMs = performance.now() - startedAt
    t.ok(tookMs < 2 * STATEMENT_TIMEOUT_MS + BUSY_MS, `refused after ${Math.round(tookMs)} ms`)
    proxy.mend()
    await until(() =>
      events.publish('order.created', {}).then(
        () => true,
        () => false,
      ),
    )
    // What was refused is let go once its connection is closed, which may come a moment later.
    const deadline = performance.now() + BUSY_MS
    const kept = await until(
      () => heapUsed() - before,
      (bytes) => bytes < 64 * MIB || performance.now() > deadline,
      1000,
    )
    t.ok(kept < 64 * MIB, `${Math.round(kept / MIB)} MiB are kept`)
  },
)

t.test('while a third of the webhooks hang, the others get all their deliveries', async (t) => {
  const count = of(300, 50_000)
  const deliveryTimeoutMs = 2000
  const concurrency = 64
  const host = await startHost(t, {
    deliveryTimeoutMs,
    core: { worker: { concurrency, maxAttempts: 2 } },
  })
  const got = new Set<string>()
  const receiver = await openReceiver({
    answer({ url }) {
      if (Number(url.slice(1)) % 3 === 0) return 'timeout'
      got.add(url)
      return 200
    },
  })
  t.teardown(() => receiver.close())
  const { register } = host.app.svc.webhooks
  for (const tens of upTo(count / 10)) {
    await Promise.all(
      upTo(10).map((n) =>
        register({ url: `${receiver.url}${10 * tens + n}`, events: ['order.created'] }),
      ),
    )
  }
  const startedAt = performance.now()
  await host.app.svc.events.publish('order.created', {})
  const healthy = upTo(count).filter((n) => n % 3 !== 0).length
  await until(() => got.size === healthy, Boolean, 100)
  const tookMs = performance.now() - startedAt
  // Those that hang take the slots of first attempts for one time-out each, and no longer.
  const rounds = Math.ceil((count - healthy) / ((concurrency * 3) / 4))
  const longestMs = rounds * deliveryTimeoutMs + BUSY_MS
  t.ok(tookMs < longestMs, `${healthy} webhooks have theirs after ${Math.round(tookMs)} ms`)
})
