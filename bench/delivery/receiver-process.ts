/**
 * A receiver of deliveries in a process of its own. Requests to /silent are never answered, those to
 * /held not while it holds them, and those to /down are refused until it is repaired.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { requestReader } from '../load/client.ts'
import { serve } from '../process.ts'
import { Arrivals } from './arrivals.ts'

const OK = 'HTTP/1.1 204 No Content\r\n\r\n'
const DOWN = 'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n'
const SENT_AT = Buffer.from('"sentAt":')
let arrivals = new Arrivals()
let isDown = true
let isHolding = false
let held = 0

const methods = {
  async listen(): Promise<number> {
    const server = createServer({ noDelay: true }, receive).listen(0, '127.0.0.1', 4096)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  },
  reset(): void {
    arrivals = new Arrivals()
  },
  repair(): void {
    isDown = false
  },
  hold(hold: boolean): void {
    isHolding = hold
    held = 0
  },
  /** Requests that it holds. */
  held: () => held,
  count: () => arrivals.count,
  countOf: (path: string) => arrivals.countOf(path),
  reached: (count: number, withinSeconds: number) => arrivals.reached(count, withinSeconds),
  lastAt: (paths: string[]) => arrivals.lastAt(paths),
  latency: (paths?: string[]) => arrivals.latency(paths),
}
export type ReceiverMethods = typeof methods
serve(methods)

function receive(socket: Socket): void {
  const reader = requestReader((path, body) => {
    if (path.startsWith('/silent')) return
    if (isHolding && path.startsWith('/held')) return void held++
    if (isDown && path.startsWith('/down')) return void socket.write(DOWN)
    arrivals.add(path, sentAtIn(body))
    socket.write(OK)
  })
  socket.on('data', (chunk: Buffer) => reader.read(chunk))
  socket.on('error', () => {})
}

/** Without parsing the body, which would cost more than receiving it. */
function sentAtIn(body: Buffer): number | undefined {
  const start = body.indexOf(SENT_AT)
  if (start < 0) return undefined
  const at = start + SENT_AT.length
  return Number.parseFloat(body.toString('latin1', at, at + 24))
}
