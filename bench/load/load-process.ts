/** A generator of HTTP load, in a process of its own. */
import { spreadOf, type Spread } from '../measure/statistics.ts'
import { serve } from '../processes/serve.ts'
import { Connections } from './connections.ts'
import { closedLoop, openLoop, type Run } from './loops.ts'

export interface RequestPattern {
  method: 'GET' | 'POST'
  path: string
  /** Header lines of every request. */
  headers?: string[]
  body?: string
  /** One more header line each, taken in turn. */
  variants: string[]
}

export interface Loaded {
  requests: number
  seconds: number
  perSecond: number
  statuses: Run['statuses']
  /** Milliseconds. */
  latency: Spread
}

let connections: Connections | undefined
let requests: Buffer[] = []
let turn = 0

const methods = {
  async aim(port: number, count: number, pattern: RequestPattern): Promise<void> {
    connections?.close()
    connections = await Connections.open(port, count)
    methods.load(pattern)
  },
  load(pattern: RequestPattern): void {
    requests = pattern.variants.map((variant) => requestOf(pattern, variant))
    turn = 0
  },
  async closedLoop(count: number, how?: { sleepless: boolean }): Promise<Loaded> {
    return summary(await closedLoop(aimed(), next, count, how))
  },
  async openLoop(rate: number, seconds: number): Promise<Loaded> {
    return summary(await openLoop(aimed(), next, { rate, seconds }))
  },
}
export type LoadMethods = typeof methods
serve(methods)

function aimed(): Connections {
  if (!connections) throw new Error('call aim() first')
  return connections
}

function next(): Buffer {
  const request = requests[turn++ % requests.length]
  if (!request) throw new Error('there is no request to send')
  return request
}

function requestOf({ method, path, headers = [], body }: RequestPattern, variant: string): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: bench', ...headers, variant]
  if (body !== undefined) lines.push(`content-length: ${Buffer.byteLength(body)}`)
  return Buffer.from(`${lines.filter(Boolean).join('\r\n')}\r\n\r\n${body ?? ''}`)
}

function summary({ seconds, statuses, latencies }: Run): Loaded {
  return {
    requests: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    statuses,
    latency: spreadOf(latencies),
  }
}
