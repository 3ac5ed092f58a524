/** Who receives deliveries, in a process of its own. Paths below /silent are never answered. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { now } from '../measure/clock.ts'
import type { Spread } from '../measure/statistics.ts'
import { usageOfThisProcess } from '../processes/usage.ts'
import { serve } from '../processes/serve.ts'
import { Arrivals } from './arrivals.ts'
import { RequestReader } from './request-reader.ts'

const OK = 'HTTP/1.1 204 No Content\r\n\r\n'
let arrivals = new Arrivals()

const methods = {
  /** Listens at loopback addresses, on one port; Linux has 16 million of them, others one. */
  async listen(hosts: string[] = ['127.0.0.1']): Promise<{ port: number; hosts: string[] }> {
    const [first = '127.0.0.1', ...others] = hosts
    const port = await listenAt(first, 0)
    for (const host of others) await listenAt(host, port)
    return { port, hosts }
  },
  reset(): void {
    arrivals = new Arrivals()
  },
  count: (): number => arrivals.count,
  reached: (count: number, withinSeconds: number) => arrivals.reached(count, withinSeconds),
  arrivals: (paths: string[]) => arrivals.at(paths),
  latency: (paths?: string[]): Spread => arrivals.latencyOf(paths),
  /** Arrivals a second over some seconds from now. */
  async ratePerSecond(seconds: number): Promise<number> {
    const [count, at] = [arrivals.count, now()]
    await pause(seconds * 1000)
    return (arrivals.count - count) / ((now() - at) / 1000)
  },
  usage: usageOfThisProcess,
}
export type ReceiverMethods = typeof methods
serve(methods)

async function listenAt(host: string, port: number): Promise<number> {
  const server = createServer({ noDelay: true }, receive).listen(port, host, 4096)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function receive(socket: Socket): void {
  const reader = new RequestReader((path, body) => {
    if (path.startsWith('/silent')) return
    arrivals.add(path, body)
    socket.write(OK)
  })
  socket.on('data', (chunk: Buffer) => reader.read(chunk))
  socket.on('error', () => {})
}
