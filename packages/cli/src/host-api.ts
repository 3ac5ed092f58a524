/** The routes of a host, which the verbs with `--url` call with `SVC_KEY`. */
import { setTimeout as wait } from 'node:timers/promises'
import { Unreachable, WrongUsage, type Context } from './verb.ts'

const DEFAULT_BASE = '/_webhooks'
/** The host waits up to 25 seconds for an event. */
const ANSWERED_WITHIN_MS = 40_000

interface Init {
  method?: 'POST'
  headers?: Record<string, string>
  body?: string
}

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
    const { answer } = await this.#ask(path, `?${new URLSearchParams(query).toString()}`)
    return answer as Answer
  }

  /** All pages of a list. @throws Unreachable as {@link get} does */
  async list<Row>(path: string, query: Record<string, string>): Promise<Row[]> {
    const rows: Row[] = []
    let next: string | undefined = `?${new URLSearchParams(query).toString()}`
    while (next !== undefined) {
      const page = await this.#ask(path, next)
      rows.push(...(page.answer as Row[]))
      next = page.next
    }
    return rows
  }

  /** @throws Unreachable as {@link get} does */
  async post<Answer>(path: string, body: object): Promise<Answer> {
    const { answer } = await this.#ask(path, '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return answer as Answer
  }

  async #ask(path: string, search: string, { headers: own, ...init }: Init = {}) {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(ANSWERED_WITHIN_MS)])
    const headers = { 'x-api-key': this.#key, ...own }
    const request = { ...init, headers, signal }
    const response = await fetch(`${this.base}${path}${search}`, request).catch((error: Error) => {
      throw new Unreachable(`${this.base} cannot be reached: ${reasonOf(error)}`)
    })
    const text = await response.text()
    if (response.ok) {
      const [, next] =
        /<[^>?]*(\?[^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
      return { answer: JSON.parse(text) as unknown, next }
    }
    const { message: said = `it answered ${response.status}`, code } = errorIn(text)
    if (response.status === 404 && code === undefined) {
      throw new Error(
        `there is no ${this.base}${path}: give --url with the base path of the webhooks routes, such as ${new URL(this.base).origin}${DEFAULT_BASE}`,
      )
    }
    // The arguments are right: the host lacks something.
    const isOfHost = code === 'SVC_WEBHOOKS_NO_EXAMPLE' || [404, 409, 410].includes(response.status)
    if (response.status === 400 && !isOfHost) throw new WrongUsage(said)
    if (isOfHost) throw Object.assign(new Error(said), { code })
    throw new Unreachable(`${this.base}: ${said}`)
  }
}

/** After the host did not answer. */
const AGAIN_MS = 2000

/** Asks until the host answers. `undefined`: it did not, and is to be asked again. */
export async function untilAnswered<Answer>(
  context: Context,
  ask: () => Promise<Answer>,
): Promise<Answer | undefined> {
  const { signal } = context
  return await ask().catch(async (error: Error) => {
    if (signal.aborted || !(error instanceof Unreachable)) throw error
    context.err(context.styleErr('yellow', `${error.message}; it is asked again`))
    await wait(AGAIN_MS, undefined, { signal }).catch(() => {})
    return undefined
  })
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

function errorIn(text: string): { message?: string; code?: string } {
  try {
    const { message, code } = JSON.parse(text) as { message?: unknown; code?: unknown }
    return {
      ...(typeof message === 'string' && { message }),
      ...(typeof code === 'string' && { code }),
    }
  } catch {
    return {}
  }
}
