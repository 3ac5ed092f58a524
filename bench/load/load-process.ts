/** A generator of HTTP load, in a process of its own. */
import { spreadOf, type Spread } from '../measure.ts'
import { serve } from '../process.ts'
import { now } from '../traffic.ts'
import { openConnection, type Send } from './client.ts'

export interface RequestPattern {
  method: 'GET' | 'POST'
  path: string
  /** Header lines of every request. */
  headers?: string[]
  body?: string
  /** More header lines, used in turn. */
  variants: string[]
}

export interface Loaded {
  perSecond: number
  /** In ms. */
  latency: Spread
}

let connections: Awaited<ReturnType<typeof openConnection>>[] = []
let requests: Buffer[] = []
let turn = 0

const methods = {
  async aim(port: number, count: number, pattern: RequestPattern): Promise<void> {
    for (const connection of connections) connection.close()
    connections = []
    while (connections.length < count) connections.push(await openConnection(port))
    requests = pattern.variants.map((variant) => requestOf(pattern, variant))
    turn = 0
  },
  /**
   * Sends on every connection the next request as soon as the one before is answered, and fails
   * at the first answer that is not a 200. `sleepless` keeps this process busy all the time: a write to a
   * sleeping process pays for waking it, and a slower server would find it asleep more often. That
   * would be measured as CPU of the server.
   */
  async load(count: number, { sleepless = false } = {}): Promise<Loaded> {
    const latencies = new Float64Array(count)
    const startedAt = now()
    let [sent, answered, hasFailed] = [0, 0, false]
    await new Promise<void>((resolve, reject) => {
      const stayAwake = (): void => {
        if (answered < count && !hasFailed) setImmediate(stayAwake)
      }
      if (sleepless) stayAwake()
      const sendOn = (send: Send): void => {
        if (sent === count) return
        sent++
        const sentAt = now()
        send(nextRequest(), (status) => {
          if (status !== 200) {
            hasFailed = true
            return reject(new Error(`an answer has status ${status}`))
          }
          latencies[answered++] = now() - sentAt
          if (answered === count) resolve()
          else sendOn(send)
        })
      }
      for (const { send } of connections) sendOn(send)
    })
    const seconds = (now() - startedAt) / 1000
    return { perSecond: count / seconds, latency: spreadOf(latencies) }
  },
}
export type LoadMethods = typeof methods
serve(methods)

function nextRequest(): Buffer {
  const request = requests[turn++ % requests.length]
  if (!request) throw new Error('there is no request to send: call aim() first')
  return request
}

function requestOf({ method, path, headers = [], body }: RequestPattern, variant: string): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: bench', ...headers, variant]
  if (body !== undefined) lines.push(`content-length: ${Buffer.byteLength(body)}`)
  return Buffer.from(`${lines.filter(Boolean).join('\r\n')}\r\n\r\n${body ?? ''}`)
}
