import { guardedAgent } from './guarded-agent.ts'
import type { PostSettings } from './post.ts'
import { resolverOf } from './resolver.ts'

/** Key sets and certificates have some kilobytes. */
const MAX_ANSWER_BYTES = 256 * 1024

export interface FetchRequest {
  url: URL
  method: 'GET' | 'POST'
  /** Sent as JSON with a POST. */
  json?: string
}

export interface Fetch {
  /**
   * Rejects unless a complete answer of allowed size came in time. A redirect is an answer, and not
   * followed.
   */
  send(request: FetchRequest): Promise<{ statusCode: number; body: string }>
  close(): Promise<void>
}

/** Makes the HTTP client that fetches what a provider publishes, with the guard of deliveries. */
export function createFetch(settings: PostSettings): Fetch {
  const { timeoutMs, isBlocked, userAgent, lookup, ca, proxy } = settings
  const names = resolverOf(lookup)
  const agent = guardedAgent({ timeoutMs, isBlocked, resolve: names.resolve, ca, proxy })
  return {
    async send({ url, method, json }) {
      const { statusCode, body } = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: {
          'user-agent': userAgent,
          'accept-encoding': 'identity',
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: json }),
        // Such requests are rare: a connection that was kept could end as the next one is sent.
        reset: true,
        signal: AbortSignal.timeout(timeoutMs),
      })
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > MAX_ANSWER_BYTES) {
          body.destroy()
          throw new Error(`${url.hostname} sent more than ${MAX_ANSWER_BYTES} bytes`)
        }
        chunks.push(chunk)
      }
      return { statusCode, body: Buffer.concat(chunks).toString() }
    },
    async close() {
      names.close()
      await agent.destroy()
    },
  }
}
