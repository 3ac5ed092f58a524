/** A way to a port of this machine that can be shut, as a network that is cut: TCP sends again what was under way. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Owner } from './cluster.ts'

export interface Gate {
  port: string
  /** Nothing passes until `open`, the end of a connection neither. */
  shut(): void
  /** What was under way arrives. */
  open(): void
  /** What was under way is lost with its connections, as when a machine of one end has died. */
  drop(): void
}

interface Pair {
  client: Socket
  target: Socket
  /** One end was closed while the gate was shut. */
  isOver: boolean
}

/** @param at where it listens: by default on a free port of 127.0.0.1 */
export async function startGate(
  owner: Owner,
  target: string,
  at: { host?: string; port?: number } = {},
): Promise<Gate> {
  let isShut = false
  const pairs = new Set<Pair>()
  const waiting = new Set<Socket>()
  const end = (pair: Pair) => {
    if (isShut) return void (pair.isOver = true)
    pairs.delete(pair)
    pair.client.destroy()
    pair.target.destroy()
  }
  const pass = ({ client, target }: Pair) => {
    client.pipe(target)
    target.pipe(client)
  }
  const lead = (client: Socket) => {
    const pair = { client, target: connect(Number(target), '127.0.0.1'), isOver: false }
    pairs.add(pair)
    for (const socket of [client, pair.target]) {
      socket.on('error', () => {})
      socket.on('close', () => end(pair))
    }
    pass(pair)
  }
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    if (!isShut) return lead(client)
    client.on('error', () => {})
    waiting.add(client)
  })
  server.listen({ host: '127.0.0.1', port: 0, ...at })
  await once(server, 'listening')
  owner.teardown(() => {
    server.close()
    for (const client of waiting) client.destroy()
    isShut = false
    for (const pair of pairs) end(pair)
  })
  return {
    port: String((server.address() as AddressInfo).port),
    shut() {
      isShut = true
      for (const { client, target } of pairs) {
        client.unpipe(target).pause()
        target.unpipe(client).pause()
      }
    },
    open() {
      isShut = false
      for (const pair of pairs) {
        if (pair.isOver) end(pair)
        else pass(pair)
      }
      for (const client of waiting) if (!client.destroyed) lead(client)
      waiting.clear()
    },
    drop() {
      for (const { client, target } of pairs) {
        client.destroy()
        target.destroy()
      }
      for (const client of waiting) client.destroy()
      waiting.clear()
    },
  }
}
