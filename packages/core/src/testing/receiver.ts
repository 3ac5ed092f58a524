/** A receiver of deliveries that records them. */
import { EventEmitter } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { verifyDelivery } from '@svc/receiver'
import { InvalidOption } from '../errors.ts'

/** Options of `receiver`. */
export interface ReceiverOptions {
  /** The webhook's secret, or several. Without one `verified` is null; see {@link Receiver.secret}. */
  secret?: string | readonly string[]
}

/** A request that a receiver has recorded. */
export interface ReceivedRequest {
  method: string
  /** Path and query. */
  url: string
  headers: IncomingHttpHeaders
  /** The parsed JSON; the text where it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the test knows what it published
  body: any
  /** The body as it came. */
  raw: string
  /** Whether the signature is right; null where no secret is known. */
  verified: boolean | null
}

/** A status, or more of the answer. */
export type ReceiverAnswer =
  | number
  | { status?: number; headers?: Record<string, string>; body?: string }

type Answering = (request: ReceivedRequest) => ReceiverAnswer | Promise<ReceiverAnswer>

/** An HTTP server of the test that records what is delivered to it. */
export interface Receiver {
  /**
   * The URL, on the loopback address: `allowedNetworks: ['127.0.0.0/8']` of svcWebhooks opens it.
   */
  url: string
  /** Oldest first. */
  received: ReceivedRequest[]
  /** Set when the webhook is registered, whose answer has it: later requests are verified by it. */
  secret: string | readonly string[] | undefined
  /** How requests are answered from now on. @default 200 */
  answer(answer: ReceiverAnswer | Answering): void
  /**
   * Resolves to what was received as soon as there are `n` requests in all.
   *
   * @throws Error after `timeoutMs` (10000), naming what came; InvalidOption where `n` is no count
   */
  waitFor(n: number, options?: { timeoutMs?: number }): Promise<ReceivedRequest[]>
  /** Closes it, open requests included. */
  close(): Promise<void>
}

/**
 * Starts a receiver on the loopback address. Close it when the test ends.
 *
 * @example
 * const hook = await receiver()
 * const { secret } = await app.svc.webhooks.register({ url: hook.url, events: ['order.created'] })
 * hook.secret = secret
 * await app.svc.events.publish('order.created', { id: 7 })
 * const [request] = await hook.waitFor(1) // request.verified is true
 */
export async function receiver({ secret }: ReceiverOptions = {}): Promise<Receiver> {
  const arrivals = new EventEmitter().setMaxListeners(0)
  let answering: Answering = () => 200
  const server = createServer((request, response) => {
    void record(request, made.secret)
      .then(async (received) => {
        made.received.push(received)
        arrivals.emit('request')
        const answer = await answering(received)
        const {
          status = 200,
          headers = {},
          body = '',
        } = typeof answer === 'number' ? { status: answer } : answer
        response.writeHead(status, headers).end(body)
      })
      .catch((error: Error) => response.writeHead(500).end(error.message))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const made: Receiver = {
    url: `http://127.0.0.1:${port}/`,
    received: [],
    secret,
    answer: (answer) => {
      answering = typeof answer === 'function' ? answer : () => answer
    },
    waitFor: (n, { timeoutMs = 10_000 } = {}) => arrival(arrivals, made, n, timeoutMs),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return made
}

async function record(
  request: IncomingMessage,
  secret: Receiver['secret'],
): Promise<ReceivedRequest> {
  const bytes = await buffer(request)
  const { method = '', url = '', headers } = request
  const raw = bytes.toString()
  const verified = secret === undefined ? null : isVerified(headers, bytes, secret)
  return { method, url, headers, body: parsed(raw), raw, verified }
}

function isVerified(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string | readonly string[],
): boolean {
  try {
    verifyDelivery({ headers, body, secret })
    return true
  } catch {
    return false
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function arrival(
  arrivals: EventEmitter,
  { received, url }: Pick<Receiver, 'received' | 'url'>,
  n: number,
  timeoutMs: number,
): Promise<ReceivedRequest[]> {
  if (!Number.isSafeInteger(n) || n < 0) {
    throw new InvalidOption(`receiver.waitFor takes a number of requests, got ${String(n)}`)
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      arrivals.off('request', check)
      const came = `${received.length} of ${n} requests came within ${timeoutMs} ms`
      reject(new Error(`receiver: ${came}${received.length > 0 ? seen(received) : unseen(url)}`))
    }, timeoutMs)
    const check = () => {
      if (received.length < n) return
      clearTimeout(timer)
      arrivals.off('request', check)
      resolve(received)
    }
    arrivals.on('request', check)
    check()
  })
}

const seen = (received: ReceivedRequest[]): string => {
  const names = received.map(
    ({ headers, method, url }) => headers['x-svc-event'] ?? `${method} ${url}`,
  )
  return ` (${names.join(', ')}): check that the webhook asks for the other events as well, and that no delivery waits for its retry, which advance(app, seconds) makes due`
}

/** What keeps the first delivery from coming. */
const unseen = (url: string): string =>
  `: check that the host is ready (await app.ready()), that the event was published and its transaction committed, that an active webhook with the url ${url} asks for it, and that svcWebhooks has allowedNetworks: ['127.0.0.0/8']`
