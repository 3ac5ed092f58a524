import { Buffer } from 'node:buffer'
import { ProviderAway } from './errors.ts'
import type { GuardedFetch } from './provider-client.ts'

const TIMEOUT_MS = 5000
const MOST_BYTES = 256 * 1024

/**
 * Requests to providers over a `fetch`: in 5 seconds at most, without redirects, of 256 KiB at most, and
 * with the time for which the provider lets an answer be kept.
 */
export function guardedFetch(fetch: typeof globalThis.fetch): GuardedFetch {
  return async ({ url, method, json }) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const answer = async () => {
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        signal,
        ...(json !== undefined && { body: json, headers: { 'content-type': 'application/json' } }),
      })
      const keepMs = keepOf(response.headers.get('cache-control') ?? '')
      return { statusCode: response.status, body: await textOf(response), ...keepMs }
    }
    try {
      // A function of the host need not heed the signal.
      return await Promise.race([answer(), aborted(signal)])
    } catch (cause) {
      throw new ProviderAway(`${url.hostname} did not answer`, { cause })
    }
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = () => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw new RangeError(`an answer of more than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/**
 * RFC 9111, section 5.2.2. An answer is kept for a second at least: forged requests must not use up those
 * of a minute.
 */
function keepOf(cacheControl: string): { keepMs?: number } {
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return { keepMs: LEAST_KEPT_MS }
  const [, seconds] = /\bmax-age=(\d+)/i.exec(cacheControl) ?? []
  return seconds === undefined ? {} : { keepMs: Math.max(LEAST_KEPT_MS, Number(seconds) * 1000) }
}

const LEAST_KEPT_MS = 1000
