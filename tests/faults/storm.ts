/**
 * Several hosts publish, deliver, receive and answer while what can fail fails. What they
 * acknowledge stands in a ledger, and is compared with what came of it.
 */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import type { Test } from 'tap'
import { verifyDelivery } from '@svc/receiver'
import { startPostgres } from '../support/postgres.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { until } from '../support/until.ts'
import { Hosts } from './hosts.ts'
import { missing, newLedger, violations, type Afterwards, type Handled } from './ledger.ts'
import type { Fault } from './schedule.ts'
import { SENDER_SECRET } from './sender.ts'

const HOSTS = 2
const QUOTA = 25
const REQUEST_MS = 5000

export interface Aftermath {
  violations: string[]
  published: number
  accepted: number
  complaints: string[]
}

export async function storm(t: Test, schedule: readonly Fault[]): Promise<Aftermath> {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const direct = new pg.Pool({ connectionString: server.url, max: 2 })
  direct.on('error', () => {})
  t.teardown(() => direct.end())
  await direct.query('create table orders (id text primary key)')
  await direct.query(
    'create table handled (name text, event_id text, payload_id text, primary key (name, event_id))',
  )
  const proxy = await proxyPostgres(t, server.url)
  const hosts = new Hosts(t, proxy.url)
  const ledger = newLedger()
  let answer: 'ok' | 'error' | 'nothing' = 'ok'
  let secret = ''

  const receiver = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (answer === 'nothing') return
      if (answer === 'error') return reply.writeHead(500).end()
      try {
        const delivery = verifyDelivery<{ id: string }>({
          headers: request.headers as Record<string, string>,
          body: Buffer.concat(chunks),
          secret,
          // The clock of a host may be wrong.
          toleranceSeconds: 3600,
        })
        const ids = ledger.delivered.get(delivery.payload.id) ?? []
        ledger.delivered.set(delivery.payload.id, [...ids, delivery.deliveryId])
      } catch {
        ledger.forged++
      }
      reply.end()
    })
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => {
    receiver.closeAllConnections()
    receiver.close()
  })

  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const url = hosts.urlOf(Math.floor(Math.random() * HOSTS))
    if (url === null) return null
    const reply = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_MS),
    }).catch(() => null)
    const text = await reply?.text().catch(() => null)
    return reply && text !== null ? { status: reply.status, text: text as string } : null
  }
  const posted = async <Answer>(path: string, body: object): Promise<Answer> => {
    const done = await until(
      () => post(path, body),
      (reply) => reply?.status === 200,
    )
    return JSON.parse(done!.text) as Answer
  }

  for (let place = 0; place < HOSTS; place++) hosts.start(place)
  const { port } = receiver.address() as AddressInfo
  const hook = { url: `http://127.0.0.1:${port}/` }
  secret = (await posted<{ secret: string }>('/control/webhook', hook)).secret
  const limited = await posted<{ key: string }>('/control/key', { quota: QUOTA })
  const revoked = await posted<{ id: string; key: string }>('/control/key', {})
  await posted('/control/revoke', { keyId: revoked.id })
  const revokedAt = performance.now()

  let isOver = false
  let count = 0
  const load = {
    async publish() {
      const isOrder = Math.random() < 0.5
      const id = `${isOrder ? 'order' : 'event'}-${++count}`
      const reply = await post(isOrder ? '/control/order' : '/control/publish', { id })
      if (reply?.status === 200) ledger.published.add(id)
    },
    /** As senders do: the same request again until it is accepted. */
    async send() {
      const id = `sent-${++count}`
      const body = { id }
      const signature = createHmac('sha256', SENDER_SECRET)
        .update(JSON.stringify(body))
        .digest('hex')
      for (let attempt = 0; attempt < 5 && !ledger.accepted.has(id); attempt++) {
        const reply = await post('/hooks/sender', body, { 'x-id': id, 'x-signature': signature })
        if (reply?.status === 200) ledger.accepted.add(id)
      }
    },
    async present() {
      const isRevoked = Math.random() < 0.5 && performance.now() - revokedAt > 2000
      const url = hosts.urlOf(Math.floor(Math.random() * HOSTS))
      if (url === null) return
      const reply = await fetch(`${url}/work`, {
        headers: { 'x-api-key': isRevoked ? revoked.key : limited.key },
        signal: AbortSignal.timeout(REQUEST_MS),
      }).catch(() => null)
      await reply?.text().catch(() => {})
      if (reply?.status !== 200) return
      if (isRevoked) ledger.admittedRevoked++
      else ledger.admitted++
    },
  }
  const lanes = Object.values(load).map(async (step) => {
    while (!isOver) {
      await step()
      await setTimeout(20)
    }
  })

  const faults: Promise<unknown>[] = []
  for (const fault of schedule) {
    await strike(fault)
  }
  isOver = true
  await Promise.all([...lanes, ...faults])

  // Afterwards nothing is restarted: all comes back by itself.
  const last = `event-${++count}`
  await posted('/control/publish', { id: last })
  ledger.published.add(last)
  await until(async () => {
    const handled = await direct
      .query<Handled>('select * from handled')
      .then(({ rows }) => rows)
      .catch(() => undefined)
    if (!handled || missing(ledger, { handled }).length > 0) return false
    const { waiting } = await afterwards(direct)
    return waiting === 0
  })
  return {
    violations: violations(ledger, await afterwards(direct)),
    published: ledger.published.size,
    accepted: ledger.accepted.size,
    complaints: hosts.complaints,
  }

  /** Begins a fault; those that last end by themselves, while others may begin. */
  async function strike(fault: Fault): Promise<void> {
    const forAWhile = (ms: number, end: () => void) => faults.push(setTimeout(ms).then(end))
    if (fault.kind === 'calm') await setTimeout(fault.ms)
    else if (fault.kind === 'kill' || fault.kind === 'wrong clock') {
      await hosts.kill(fault.host)
      hosts.start(fault.host, fault.kind === 'kill' ? 0 : fault.offsetMs)
    } else if (fault.kind === 'freeze') {
      const { host } = fault
      hosts.signal(host, 'SIGSTOP')
      forAWhile(fault.ms, () => hosts.signal(host, 'SIGCONT'))
    } else if (fault.kind === 'cut' || fault.kind === 'silence') {
      if (fault.kind === 'cut') proxy.cut()
      else proxy.silence()
      await setTimeout(fault.ms)
      proxy.mend()
    } else if (fault.kind === 'slow') {
      proxy.delay(200)
      await setTimeout(fault.ms)
      proxy.mend()
    } else if (fault.kind === 'terminate') {
      await direct
        .query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where pid <> pg_backend_pid() and backend_type = 'client backend' and pid % $1 = 0`,
          [fault.oneIn],
        )
        .catch(() => {})
    } else if (fault.kind === 'crash') {
      const { rows } = await direct
        .query<{ pid: number }>(`select pg_backend_pid() as pid`)
        .catch(() => ({ rows: [] }))
      if (rows[0]) process.kill(rows[0].pid, 'SIGKILL')
    } else {
      ;({ answer } = fault)
      forAWhile(fault.ms, () => {
        answer = 'ok'
      })
    }
  }
}

async function afterwards(direct: pg.Pool): Promise<Afterwards> {
  const rowsOf = async <Row extends pg.QueryResultRow>(text: string) =>
    (await direct.query<Row>(text)).rows
  const [jobs] = await rowsOf<{ waiting: number; dead: number }>(
    `select count(*) filter (where state < 'completed' and name not like '%.dlq')::int as waiting,
       count(*) filter (where name like '%.dlq')::int as dead
     from svc_jobs.job where name like '\\_\\_svc.%'`,
  )
  return {
    handled: await rowsOf<Handled>('select * from handled'),
    orders: (await rowsOf<{ id: string }>('select id from orders')).map(({ id }) => id),
    waiting: jobs!.waiting,
    deadLetters: jobs!.dead,
    quota: QUOTA,
  }
}
