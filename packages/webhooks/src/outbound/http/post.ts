import { lookup as systemLookup } from 'node:dns'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { Refuses } from './blocked-addresses.ts'
import { guarded, vettedLookup } from './connector.ts'
import { failureOf } from './classify-error.ts'
import { NameServers } from './name-servers.ts'
import type { Answer, Failure } from '../delivery/next-step.ts'
import { fairResolver, type Lookup } from './resolver.ts'
import { ResponseText } from './response-text.ts'

/** An answer is read so far and then cut off. */
const LONGEST_ANSWER = 64 * 1024
/** Of every request. No compression is asked for: the start of an answer is kept as it came. */
const ALWAYS = ['Content-Type', 'application/json', 'Accept-Encoding', 'identity']
/**
 * Above so many open connections none is kept for later: a fan-out to 10 000 hosts must not use up
 * the file handles.
 */
const KEPT_CONNECTIONS = 512

export interface PostSettings {
  /** For connecting, headers and body together. */
  timeoutMs: number
  refuses: Refuses
  userAgent: string
  /** @default node:dns's lookup */
  lookup?: Lookup
  /** Certificate authorities, in PEM. @default those of Node */
  ca?: string
}

export interface Post {
  /** Sends one POST; each failure is an answer. Rejects only where `signal` aborts. */
  send(url: URL, headers: string[], body: Buffer, signal: AbortSignal): Promise<Answer>
  /** Drops all connections, and what is still under way on them. */
  close(): Promise<void>
}

/**
 * How long one address of a name is given to accept a connection before the next is tried. Node's
 * 250 ms would never reach an endpoint that is farther away than that and has a second address. A
 * quarter of the time of the attempt: with the default of 10 s, a lost SYN is sent again in it, and
 * an address that swallows packets leaves time for three others. The last address has all that is left.
 */
const addressTimeoutMs = (timeoutMs: number): number => Math.ceil(timeoutMs / 4)

/** The one way out to the world. */
export function openPost({ timeoutMs, refuses, userAgent, lookup, ca }: PostSettings): Post {
  const always = [...ALWAYS, 'User-Agent', userAgent]
  let open = 0
  const nameServers = new NameServers()
  const resolve =
    lookup === undefined
      ? fairResolver(timeoutMs, systemLookup, (hostname) => nameServers.answer(hostname))
      : fairResolver(timeoutMs, lookup)
  const connector = buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    lookup: vettedLookup(resolve, refuses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressTimeoutMs(timeoutMs),
    // Said aloud: NODE_TLS_REJECT_UNAUTHORIZED in somebody's environment does not turn it off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  })
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: 16 * 1024,
    // The exchange has one deadline of its own; two more timers for each would only cost.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: guarded(connector, refuses, (socket) => {
      open++
      socket.once('close', () => open--)
    }),
  })

  return {
    send(url, headers, body, signal) {
      return new Promise((resolve, reject) => {
        const exchange = new Exchange(resolve, reject, timeoutMs, signal)
        if (signal.aborted) return exchange.onAbort()
        const { origin, pathname, search } = url
        const request = {
          origin,
          path: pathname + search,
          method: 'POST',
          headers: always.concat(headers),
          body,
        }
        agent.dispatch(open > KEPT_CONNECTIONS ? { ...request, reset: true } : request, exchange)
      })
    },
    close() {
      nameServers.close()
      return agent.destroy()
    },
  }
}

/** One request and its answer. Settles once; what undici says after that is ignored. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (reason: unknown) => void
  readonly #signal: AbortSignal
  readonly #onAbort = () => this.onAbort()
  readonly #deadline: NodeJS.Timeout
  readonly #text = new ResponseText()
  #controller: Dispatcher.DispatchController | undefined
  #settled = false
  #statusCode: number | null = null
  #retryAfter: string | null = null

  constructor(
    resolve: (answer: Answer) => void,
    reject: (reason: unknown) => void,
    timeoutMs: number,
    signal: AbortSignal,
  ) {
    this.#resolve = resolve
    this.#reject = reject
    this.#signal = signal
    this.#deadline = setTimeout(() => this.#cut('timeout'), timeoutMs)
    signal.addEventListener('abort', this.#onAbort)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Its deadline passed while it waited for a connection: it counts as failed and stays here.
    if (this.#settled) this.#stop()
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: ResponseHeaders,
  ): void {
    if (statusCode < 200) return
    this.#statusCode = statusCode
    const retryAfter = headers['retry-after']
    if (typeof retryAfter === 'string') this.#retryAfter = retryAfter
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#text.add(chunk)
    if (this.#text.bytes > LONGEST_ANSWER) this.#cut(null)
  }

  onResponseEnd(): void {
    this.#finish(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#finish(failureOf(error))
  }

  onAbort(): void {
    if (!this.#settle()) return
    this.#stop()
    this.#reject(this.#signal.reason)
  }

  #cut(failure: Failure | null): void {
    this.#finish(failure)
    this.#stop()
  }

  #finish(failure: Failure | null): void {
    if (!this.#settle()) return
    const responseBody = this.#statusCode === null ? null : this.#text.toString()
    this.#resolve({
      statusCode: this.#statusCode,
      failure,
      retryAfter: this.#retryAfter,
      responseBody,
    })
  }

  #settle(): boolean {
    if (this.#settled) return false
    this.#settled = true
    clearTimeout(this.#deadline)
    this.#signal.removeEventListener('abort', this.#onAbort)
    return true
  }

  #stop(): void {
    this.#controller?.abort(new Error('the exchange is over'))
  }
}

type ResponseHeaders = Record<string, string | string[] | undefined>
