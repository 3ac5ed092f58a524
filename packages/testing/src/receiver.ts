/** A receiver of deliveries that records them. */
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { InvalidOption } from '@svc/core'
import { isIntegerFrom, isString, resolveOptions, type OptionRules } from '@svc/core/internal'
import { recordOf, type ReceivedRequest, type ReceiverSecret } from './received-request.ts'
import { answersInTurn, write, type ReceiverAnswers } from './receiver-answers.ts'
import { timeoutOf } from './timeout.ts'

/** Options of `receiver`. */
export interface ReceiverOptions {
  /** Without one `verified` is null; see {@link Receiver.secret}. */
  secret?: ReceiverSecret | undefined
  /** How requests are answered, as {@link Receiver.answer} takes it. @default 200 */
  answer?: ReceiverAnswers | undefined
  /** The `headerPrefix` of the host. @default 'X-Svc-' */
  headerPrefix?: string | undefined
}

/** An HTTP server of the test that records what is delivered to it. */
export interface Receiver {
  /**
   * The URL, on the loopback address: `allowedNetworks: ['127.0.0.0/8']` of svcWebhooks opens it.
   * Requests to any path below it are received as well.
   */
  url: string
  /** Oldest first. */
  received: ReceivedRequest[]
  /** Set when the webhook is registered, whose answer has it: later requests are verified by it. */
  secret: ReceiverSecret | undefined
  /** How requests are answered from now on. @throws InvalidOption */
  answer(answers: ReceiverAnswers): void
  /**
   * Resolves to what was received as soon as there are `n` requests in all.
   *
   * @throws Error after `timeoutMs` (10000, or SVC_TESTING_TIMEOUT_MS of the environment), naming what came; what a function given to `answer`
   *   has thrown; InvalidOption
   */
  waitFor(n: number, options?: { timeoutMs?: number }): Promise<ReceivedRequest[]>
  /** Closes it, open requests included. */
  close(): Promise<void>
}

interface Resolved {
  secret: ReceiverSecret | undefined
  answer: ReceiverAnswers
  headerPrefix: string
}

// The values are checked where they are used, since both may be set later as well.
const RULES = {
  secret: { expects: 'a secret', is: () => true },
  answer: { expects: 'an answer', is: () => true, default: 200 },
  headerPrefix: { expects: 'a text such as "X-Acme-"', is: isString, default: 'X-Svc-' },
} satisfies OptionRules

/**
 * Starts a receiver on the loopback address. Close it when the test ends.
 *
 * @throws InvalidOption
 * @example
 * const hook = await receiver()
 * const { secret } = await app.svc.webhooks.register({ url: hook.url, events: ['order.created'] })
 * hook.secret = secret
 * await app.svc.events.publish('order.created', { id: 7 })
 * const [request] = await hook.waitFor(1) // request.verified is true
 */
export async function receiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { secret, answer, headerPrefix } = resolveOptions<Resolved>('receiver', RULES, options)
  const eventHeader = `${headerPrefix}Event`.toLowerCase()
  let nextAnswer = answersInTurn(answer)
  const changes = new EventEmitter().setMaxListeners(0)
  let isClosed = false
  /** A mistake of the test. Otherwise only the sender of the request would get the error. */
  let mistake: Error | undefined

  const server = createServer((request, response) => void receive(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const made: Receiver = {
    url: `http://127.0.0.1:${port}/`,
    received: [],
    secret,
    answer: (answers) => void (nextAnswer = answersInTurn(answers)),
    waitFor,
    close: () =>
      new Promise((resolve) => {
        isClosed = true
        changes.emit('change')
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return made

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined)
    if (!body) return // The sender is gone.
    try {
      const received = recordOf(request, body, made.secret, headerPrefix)
      made.received.push(received)
      const answer = nextAnswer(received)
      // A function that throws at once fails the `waitFor` of its own request.
      await Promise.race([answer, nextTurn()])
      changes.emit('change')
      await write(response, await answer)
    } catch (error) {
      mistake ??= error as Error
      changes.emit('change')
      response.writeHead(500).end((error as Error).message)
    }
  }

  async function waitFor(n: number, options: object = {}): Promise<ReceivedRequest[]> {
    if (!isIntegerFrom(0)(n)) {
      throw new InvalidOption(`receiver.waitFor takes a number of requests, got ${String(n)}`)
    }
    const timeoutMs = timeoutOf('receiver.waitFor', options)
    const signal = AbortSignal.timeout(timeoutMs)
    for (;;) {
      if (mistake) throw mistake
      if (made.received.length >= n) return made.received
      if (isClosed) throw new Error(tooFew(made.received, n, eventHeader, 'before it was closed'))
      await once(changes, 'change', { signal }).catch(() => {
        const told = tooFew(made.received, n, eventHeader, `within ${timeoutMs} ms`)
        throw new Error(`${told}: ${whatToCheck(made)}`)
      })
    }
  }
}

function tooFew(
  received: ReceivedRequest[],
  n: number,
  eventHeader: string,
  until: string,
): string {
  const names = Map.groupBy(
    received,
    ({ headers, method, url }) => headers[eventHeader] ?? `${method} ${url}`,
  )
  const named = [...names].map(([name, { length }]) => (length > 1 ? `${length} × ${name}` : name))
  const came = named.length > 0 ? ` (${named.join(', ')})` : ''
  return `receiver: ${received.length} of ${n} requests came ${until}${came}`
}

/** What may keep further deliveries from coming. */
const whatToCheck = ({ received, url }: Receiver): string =>
  received.length > 0
    ? 'check that the webhook asks for the other events as well, and that no delivery waits for its retry, which advance(app, seconds) makes due'
    : `check that the host is ready (await app.ready()), that the event was published and its transaction committed, that an active webhook with the url ${url} asks for it, and that svcWebhooks has allowedNetworks: ['127.0.0.0/8']`
