/** A way to Postgres that a test can cut, or let fall silent. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Test as Tap } from 'tap'

export interface PostgresProxy {
  /** The connection string that leads through it. */
  database: string
  /** Ends all connections and refuses new ones. */
  cut(): void
  /** Accepts everything and says nothing, as behind a network that drops packets. */
  silence(): void
  mend(): void
}

export async function postgresProxy(t: Tap, database: string): Promise<PostgresProxy> {
  const target = new URL(database)
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'silent' = 'open'

  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy()
    const upstream = connect(Number(target.port || 5432), target.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => state === 'silent' || to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    endAll()
    server.close()
  })

  const url = new URL(database)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    database: url.href,
    cut() {
      state = 'cut'
      endAll()
    },
    silence() {
      state = 'silent'
    },
    mend() {
      // What was silent for a while has lost bytes: nobody could go on with it.
      if (state === 'silent') endAll()
      state = 'open'
    },
  }
}
