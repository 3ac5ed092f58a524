import { StringDecoder } from 'node:string_decoder'
import type { Dispatcher } from 'undici'
import { storableText } from '@svc/core/internal'
import type { IsBlocked } from './blocked-addresses.ts'
import {
  classifyError,
  isOurFault,
  type Failure,
  type PostResult,
  type ResponseHeaders,
} from './post-result.ts'
import { Connections, guardedAgent, type Connected } from './guarded-agent.ts'
import type { Proxy } from './proxy.ts'
import { resolverOf, type Lookup } from './resolver.ts'

/** How many bytes of an answer are read; the rest is cut off. */
const MAX_ANSWER_BYTES = 64 * 1024
/** How much of an answer the delivery log keeps. */
export const KEPT_BYTES = 1024
/** Headers of every request. Without compression the start of an answer is readable in the log. */
const COMMON_HEADERS = ['Accept-Encoding', 'identity']
const JSON_TYPE = 'application/json'
/**
 * With more open connections than this, each is closed after its request: a fan-out to 10,000 hosts
 * must not use up the file handles.
 */
const MAX_KEPT_CONNECTIONS = 512

export interface PostSettings {
  /** The time for connecting, headers and body together. */
  timeoutMs: number
  isBlocked: IsBlocked
  userAgent: string
  /** In place of the hosts file, name servers and the system. */
  lookup?: Lookup
  /** Certificate authorities, in PEM. @default those of Node */
  ca?: string
  /** @default none */
  proxy?: Proxy | undefined
}

/** The options of a single request. */
export interface RequestOptions {
  /** @default application/json */
  contentType?: string | undefined
  /**
   * A shorter time limit for this request. A longer one than that of all requests has no effect.
   */
  timeoutMs?: number | undefined
  /**
   * Whether a header that is given replaces those of its name before it, also those of every request.
   * @default false: none comes twice
   */
  isReplacing?: boolean
}

export interface Post {
  /** Sends one POST. A failure is returned in the result. Rejects only where `signal` aborts. */
  send(
    url: URL,
    headers: string[],
    body: Buffer,
    signal: AbortSignal,
    options?: RequestOptions,
  ): Promise<PostResult>
  /** The headers of such a request, without those of its framing. */
  headersOf(headers: string[], options?: RequestOptions): string[]
  /** Closes all connections; requests on them fail. */
  close(): Promise<void>
}

/** Makes the one HTTP client of deliveries. */
export function createPost(settings: PostSettings): Post {
  const { timeoutMs, isBlocked, userAgent, lookup, ca, proxy } = settings
  const connections = new Connections()
  const always = [...COMMON_HEADERS, 'User-Agent', userAgent, 'Content-Type']
  const names = resolverOf(lookup)
  const agentSettings = { timeoutMs, isBlocked, resolve: names.resolve, ca, proxy, connections }
  const agent = guardedAgent(agentSettings)
  // It keeps no connection: each of its requests has a new one.
  const agentOfResent = guardedAgent(agentSettings)

  const headersOf: Post['headersOf'] = (headers, { contentType, isReplacing } = {}) => {
    const all = always.concat(contentType ?? JSON_TYPE, headers)
    return isReplacing === true ? lastOfEach(all) : all
  }

  return {
    headersOf,
    send(url, headers, body, signal, options = {}) {
      return new Promise((resolve, reject) => {
        const limitMs = Math.min(timeoutMs, options.timeoutMs ?? timeoutMs)
        const { origin, hostname, pathname, search } = url
        const host = hostname.replace(/^\[|\]$/g, '')
        const request = {
          origin,
          path: pathname + search,
          method: 'POST',
          headers: headersOf(headers, options),
          body,
        }
        const sendAgain = () => agentOfResent.dispatch({ ...request, reset: true }, exchange)
        const way = { connections, host, sendAgain }
        const exchange = new Exchange(resolve, reject, limitMs, signal, way)
        if (signal.aborted) return exchange.onAbort()
        agent.dispatch(
          connections.open > MAX_KEPT_CONNECTIONS ? { ...request, reset: true } : request,
          exchange,
        )
      })
    },
    async close() {
      names.close()
      await Promise.all([agent.destroy(), agentOfResent.destroy()])
    },
  }
}

/** Of the headers of a name, the last one. */
function lastOfEach(headers: readonly string[]): string[] {
  const last = new Map<string, readonly string[]>()
  for (let at = 0; at < headers.length; at += 2) {
    last.set(headers[at]!.toLowerCase(), headers.slice(at, at + 2))
  }
  return [...last.values()].flat()
}

interface Way {
  connections: Connections
  host: string
  /** Sends the request on a new connection. */
  sendAgain(): void
}

/**
 * For how long after the start of a request the end of a kept connection says that the receiver had
 * closed it before the request came: the round trip to a receiver that is far away. Later, the
 * receiver has had the body, and may have acted on it.
 */
const CLOSED_BEFORE_MS = 250

/** The other side has ended the connection, as Node and undici name it. */
const ENDED_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** One request and its answer. It ends once; later callbacks of undici are ignored. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (result: PostResult) => void
  readonly #reject: (reason: unknown) => void
  readonly #signal: AbortSignal
  readonly #way: Way
  readonly #onAbort = () => this.onAbort()
  readonly #deadline: NodeJS.Timeout
  readonly #text = new ResponseText()
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  /** When the request began on a connection that was kept; `null` on a new one. */
  #keptSinceMs: number | null = null
  #isSentAgain = false
  #statusCode: number | null = null
  #retryAfter: string | null = null
  #headers: ResponseHeaders | undefined
  #connected: Connected | undefined
  #requestedMs: number | undefined
  #answeredMs: number | undefined

  constructor(
    resolve: (result: PostResult) => void,
    reject: (reason: unknown) => void,
    timeoutMs: number,
    signal: AbortSignal,
    way: Way,
  ) {
    this.#resolve = resolve
    this.#way = way
    this.#reject = reject
    this.#signal = signal
    // An answer that came while the process was busy is read first.
    this.#deadline = setTimeout(() => setImmediate(() => this.#onDeadline()), timeoutMs)
    signal.addEventListener('abort', this.#onAbort)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // A new connection: this is its first request.
    const connection = this.#way.connections.handedOver
    this.#connected = connection?.connected
    this.#requestedMs = performance.now()
    this.#keptSinceMs = connection === null ? this.#requestedMs : null
    // Its deadline passed while it waited for a connection: the attempt has failed, nothing is sent.
    if (this.#ended) this.#stop()
  }

  /** The first byte of an answer, interim or not. */
  onResponseStarted(): void {
    this.#keptSinceMs = null
    this.#answeredMs ??= performance.now()
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: ResponseHeaders,
  ): void {
    if (statusCode < 200) return
    this.#statusCode = statusCode
    this.#headers = headers
    const retryAfter = headers['retry-after']
    if (typeof retryAfter === 'string') this.#retryAfter = retryAfter
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#text.add(chunk)
    if (this.#text.bytes > MAX_ANSWER_BYTES) this.#cut(null)
  }

  onResponseEnd(): void {
    this.#finish(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#ended) return
    if (this.#isSentAgain || !this.#wasClosedBefore(error)) {
      this.#connected ??= this.#way.connections.refused.get(error)
      return this.#finish(classifyError(error), isOurFault(error))
    }
    this.#isSentAgain = true
    this.#controller = undefined
    this.#way.sendAgain()
  }

  /**
   * A receiver closes a connection that is idle at a time of its own, also while a request is on its
   * way. That is no evidence about the receiver, which knows a repeated request by its delivery id.
   */
  #wasClosedBefore(error: Error & { code?: unknown }): boolean {
    if (this.#controller === undefined) return this.#way.connections.ended.has(error)
    return (
      this.#keptSinceMs !== null &&
      performance.now() - this.#keptSinceMs < CLOSED_BEFORE_MS &&
      ENDED_CODES.has(String(error.code))
    )
  }

  onAbort(): void {
    if (!this.#end()) return
    this.#stop()
    this.#reject(this.#signal.reason)
  }

  /**
   * Where the request was not sent yet, the time may have passed in waiting for a name server or
   * for the proxy of this host: such a failure is not the receiver's.
   */
  #onDeadline(): void {
    if (this.#ended) return
    const { connections, host } = this.#way
    const phase = this.#controller === undefined ? connections.phaseOf(host) : null
    this.#finish(phase === 'tunnel' ? 'proxy' : 'timeout', phase !== null)
    this.#stop()
  }

  #cut(failure: Failure | null): void {
    this.#finish(failure)
    this.#stop()
  }

  #finish(failure: Failure | null, ours = false): void {
    if (!this.#end()) return
    const responseBody = this.#statusCode === null ? null : this.#text.toString()
    this.#resolve({
      statusCode: this.#statusCode,
      failure,
      ...(ours && { isOurFault: true as const }),
      retryAfter: this.#retryAfter,
      responseBody,
      ...(this.#headers && { responseHeaders: this.#headers }),
      connected: this.#connected,
      ...this.#times(),
    })
  }

  #times(): Pick<PostResult, 'firstByteMs' | 'bodyMs'> {
    if (this.#requestedMs === undefined) return {}
    const nowMs = performance.now()
    const answeredMs = this.#answeredMs ?? nowMs
    return { firstByteMs: answeredMs - this.#requestedMs, bodyMs: nowMs - answeredMs }
  }

  #end(): boolean {
    if (this.#ended) return false
    this.#ended = true
    clearTimeout(this.#deadline)
    this.#signal.removeEventListener('abort', this.#onAbort)
    return true
  }

  #stop(): void {
    this.#controller?.abort(new Error('the exchange is over'))
  }
}

/** Counts an answer's bytes and keeps the first KiB of them as text. */
export class ResponseText {
  bytes = 0
  #text = ''
  #decoder: StringDecoder | undefined

  add(chunk: Buffer): void {
    const room = KEPT_BYTES - this.bytes
    this.bytes += chunk.length
    if (room <= 0) return
    // A character may be split between chunks or at the cut: the decoder holds an incomplete one back.
    this.#decoder ??= new StringDecoder('utf8')
    this.#text += this.#decoder.write(chunk.subarray(0, room))
  }

  toString(): string {
    return storableText(this.#text)
  }
}
