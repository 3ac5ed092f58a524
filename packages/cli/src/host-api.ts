/** The routes of a host, which the verbs with `--url` call with `SVC_KEY`. */
import { Unreachable, WrongUsage, type Context } from './verb.ts'

const DEFAULT_BASE = '/_webhooks'
/** The host waits up to 25 seconds for an event. */
const ANSWERED_WITHIN_MS = 40_000

export class HostApi {
  readonly base: string
  #key: string
  #signal: AbortSignal

  /** @throws WrongUsage */
  constructor({ env, signal }: Context, url: string) {
    const { SVC_KEY: key } = env
    if (!key) throw new WrongUsage('SVC_KEY is not set: set it to an API key of the host')
    const { origin, pathname } = urlOf('--url', url)
    this.base = origin + (pathname === '/' ? DEFAULT_BASE : pathname.replace(/\/+$/, ''))
    this.#key = key
    this.#signal = signal
  }

  /** @throws Unreachable where the host does not answer, or not to this key */
  async get<Answer>(path: string, query: Record<string, string>): Promise<Answer> {
    const url = `${this.base}${path}?${new URLSearchParams(query).toString()}`
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(ANSWERED_WITHIN_MS)])
    const response = await fetch(url, { headers: { 'x-api-key': this.#key }, signal }).catch(
      (error: Error) => {
        throw new Unreachable(`${this.base} cannot be reached: ${reasonOf(error)}`)
      },
    )
    const text = await response.text()
    if (response.ok) return JSON.parse(text) as Answer
    const said = messageIn(text) ?? `it answered ${response.status}`
    if (response.status === 404) {
      throw new Error(
        `there is no ${this.base}${path}: give --url with the base path of the webhooks routes, such as ${new URL(url).origin}${DEFAULT_BASE}`,
      )
    }
    if (response.status === 400) throw new WrongUsage(said)
    if (response.status === 410) throw new Error(said)
    throw new Unreachable(`${this.base}: ${said}`)
  }
}

/** @throws WrongUsage */
export function urlOf(option: string, text: string): URL {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new WrongUsage(`${option} must be a URL such as http://localhost:3000, got "${text}"`)
}

/** fetch hides it in the cause. */
export function reasonOf({ message, cause }: Error): string {
  const { code, message: inner } = (cause ?? {}) as { code?: string; message?: string }
  return inner || code || message
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
