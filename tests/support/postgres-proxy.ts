/** Between a host and its Postgres: breaks connections, drops all data, or behaves as a pooler. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

export interface PostgresProxy {
  /** The connection string to use instead. */
  url: string
  /** Breaks all connections; new ones are refused until `mend`. */
  cut(): void
  /** Resets all connections (RST, as a middlebox that lost its table does); new ones are let through. */
  reset(): void
  /** Accepts connections and drops all data, as a network that loses packets. */
  silence(): void
  /** Drops all data of the connections that there are. New ones are let through. */
  strand(): void
  /** All that is sent arrives `ms` milliseconds late. */
  delay(ms: number): void
  /** What ends a transaction reaches Postgres `ms` milliseconds late: its locks are held meanwhile. */
  slowCommits(ms: number): void
  mend(): void
  /** New connections go to the server of this connection string. */
  moveTo(database: string): void
  connections(): number
  /** Remembers the connections that are open now. The function counts those that are still open. */
  fromNowOn(): () => number
}

export interface ProxyOptions {
  /** As PgBouncer: an error for the startup parameter `options`. */
  refusesOptions?: boolean
  /** As other poolers: cuts a connection that has it. */
  cutsOptions?: boolean
  /** So many connections that have the startup parameter `options` find the server full. */
  fullFor?: number
}

/** What is needed of tap's `t`. */
interface Test {
  teardown(end: () => void): unknown
}

export async function proxyPostgres(
  t: Test,
  database: string,
  { refusesOptions = false, cutsOptions = false, fullFor = 0 }: ProxyOptions = {},
): Promise<PostgresProxy> {
  let target = new URL(database)
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'silent' = 'open'
  let delayMs = 0
  let commitMs = 0
  const stranded = new WeakSet<Socket>()
  const server = createServer((client) => {
    if (state === 'cut') return client.destroy()
    const upstream = connect(Number(target.port || 5432), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    const forward = (from: Socket, to: Socket) => {
      // What follows a late piece is written after it.
      let late = 0
      let order = Promise.resolve<unknown>(undefined)
      return from.on('data', (bytes) => {
        if (state === 'silent' || stranded.has(from)) return
        const isCommit = commitMs > 0 && from === client && /commit/i.test(bytes.toString('latin1'))
        const lateMs = isCommit ? commitMs : delayMs
        if (lateMs === 0 && late === 0) return void to.write(bytes)
        late++
        order = order
          .then(() => setTimeout(lateMs))
          .then(() => {
            late--
            to.write(bytes)
          })
      })
    }
    forward(upstream, client)
    if (!refusesOptions && !cutsOptions && fullFor === 0) return void forward(client, upstream)
    client.once('data', (startup: Buffer) => {
      const hasOptions = startup.includes('\0options\0')
      if (hasOptions && refusesOptions) return client.end(refusal)
      if (hasOptions && cutsOptions) return client.destroy()
      if (hasOptions && fullFor-- > 0) return client.end(full)
      upstream.write(startup)
      forward(client, upstream)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const cut = () => {
    state = 'cut'
    endAll()
  }
  t.teardown(() => {
    cut()
    server.close()
  })
  const url = new URL(database)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: String(url),
    cut,
    reset() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    silence() {
      state = 'silent'
    },
    strand() {
      for (const socket of sockets) stranded.add(socket)
    },
    delay(ms) {
      delayMs = ms
    },
    slowCommits(ms) {
      commitMs = ms
    },
    mend() {
      delayMs = 0
      commitMs = 0
      // A connection that has lost bytes cannot go on.
      if (state === 'silent') endAll()
      state = 'open'
    },
    moveTo(other) {
      target = new URL(other)
    },
    connections: () => sockets.size / 2,
    fromNowOn() {
      const now = [...sockets]
      return () => now.filter((socket) => sockets.has(socket)).length / 2
    },
  }
}

/** An ErrorResponse of the wire protocol. */
const errorResponse = (fields: string): Buffer => {
  const body = Buffer.from(`${fields}\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const refusal = errorResponse('SFATAL\0C08P01\0Munsupported startup parameter: options\0')
const full = errorResponse('SFATAL\0C53300\0Msorry, too many clients already\0')
