/** What the world outside asks of the hosts, and what of it they acknowledge. */
import { createHmac } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { seededRandom } from '../auth/support/random.ts'
import type { Deadline } from './deadline.ts'
import { SENDER_SECRET } from './host-options.ts'
import type { Hosts } from './hosts.ts'
import { idOf, type Ledger } from './ledger.ts'

const REQUEST_MS = 5000
/** What prepares a schedule is asked while all is well, and must not be done twice. */
const PREPARED_MS = 30_000
/** A request that hangs must not end its kind: so many of a kind at a time, and a pause in each. */
const LANES = 2
const PAUSE_MS = 60
/** Between two events of the limited webhooks, which shall not fall behind for long. */
const STEP_PAUSE_MS = 350
/** Between two requests with the key that has a limit: more than its limit admits. */
const LIMITED_PAUSE_MS = 100
/** From when on a revoked key is refused by every process. */
const REVOKED_AFTER_MS = 1000
/** How often the sender sends a request that is not accepted. */
const SENDER_ATTEMPTS = 5

export interface PresentedKeys {
  /** Has a quota. */
  counted: string
  /** Has a limit. */
  limited: string
}

interface Reply {
  status: number
  text: string
}

interface PostOptions {
  headers?: Record<string, string>
  host?: number | undefined
  ms?: number
}

export class Load {
  readonly #hosts: Hosts
  readonly #ledger: Ledger
  readonly #deadline: Deadline
  readonly #random: () => number
  #count = 0
  #isOver = false

  constructor(hosts: Hosts, ledger: Ledger, deadline: Deadline) {
    this.#hosts = hosts
    this.#ledger = ledger
    this.#deadline = deadline
    this.#random = seededRandom(ledger.seed)
  }

  /** All kinds of requests, one after another in each lane, until `end`. */
  run({ counted, limited }: PresentedKeys): Promise<unknown> {
    const lanes: [count: number, pauseMs: number, ask: () => Promise<unknown>][] = [
      [LANES, PAUSE_MS, () => this.#publish()],
      [LANES, PAUSE_MS, () => this.#send()],
      [1, STEP_PAUSE_MS, () => this.#step()],
      [1, LIMITED_PAUSE_MS, () => this.#spend(counted)],
      [1, LIMITED_PAUSE_MS, () => this.#useLimited(limited)],
      [1, PAUSE_MS, () => this.#revoke()],
    ]
    return Promise.all(
      lanes.flatMap(([count, pauseMs, ask]) =>
        Array.from({ length: count }, async () => {
          while (!this.#isOver) {
            await ask()
            await setTimeout(pauseMs)
          }
        }),
      ),
    )
  }

  end(): void {
    this.#isOver = true
  }

  /** Asks a host until it answers. */
  async posted<Answer>(path: string, bodyOf: () => object): Promise<Answer> {
    const answered = await this.#deadline.until(`an answer of ${path}`, async () => {
      const reply = await this.#post(path, bodyOf(), { ms: PREPARED_MS })
      return reply?.status === 200 && reply
    })
    return JSON.parse(answered.text) as Answer
  }

  /** Whether a host publishes, and finds itself healthy. */
  async isHealthy(host: number): Promise<boolean> {
    if (!(await this.#publish(host))) return false
    const health = await this.#ask('/control/health', {}, host)
    return health?.status === 200 && (JSON.parse(health.text) as { ok: boolean }).ok
  }

  /** Publishes in a host, `more` in its payload, and returns the id of the event; `null` if it was not acknowledged. */
  async publishedBy(host: number, more = ''): Promise<string | null> {
    const id = this.#idOf('event')
    const reply = await this.#post('/control/publish', { id, more }, { host })
    if (reply?.status !== 200) {
      if (reply) this.#refused(reply)
      return null
    }
    this.#ledger.published.add(id)
    return id
  }

  /** Presents all revoked keys to a host. */
  async presentRevoked(host: number): Promise<void> {
    for (const key of this.#ledger.revoked) {
      if (!(await this.#isAdmitted(key, host))) continue
      const { admittedBy } = this.#ledger
      admittedBy.set(key, (admittedBy.get(key) ?? 0) + 1)
    }
    this.#ledger.hosts++
  }

  /** An event alone, or in the transaction of an order. */
  async #publish(host?: number): Promise<boolean> {
    const isOrder = this.#random() < 0.5
    const id = this.#idOf(isOrder ? 'order' : 'event')
    const path = isOrder ? '/control/order' : '/control/publish'
    const reply = await this.#post(path, { id }, { host })
    if (reply?.status !== 200) {
      if (reply) this.#refused(reply)
      return false
    }
    this.#ledger.published.add(id)
    return true
  }

  #refused({ text }: Reply): void {
    const { refusals } = this.#ledger
    const { message = '' } = JSON.parse(text) as { message?: string }
    refusals.set(message, (refusals.get(message) ?? 0) + 1)
  }

  async #step(): Promise<void> {
    const id = this.#idOf('step')
    const reply = await this.#post('/control/step', { id })
    if (reply?.status === 200) this.#ledger.steps.push(id)
  }

  /** As senders do: the same request again until it is accepted. */
  async #send(): Promise<void> {
    const { sent, accepted } = this.#ledger
    const id = this.#idOf('sent')
    const text = JSON.stringify({ id })
    const signature = createHmac('sha256', SENDER_SECRET).update(text).digest('hex')
    const headers = { 'x-id': id, 'x-signature': signature }
    sent.add(id)
    for (let attempt = 0; attempt < SENDER_ATTEMPTS && !this.#isOver; attempt++) {
      const reply = await this.#post('/hooks/sender', { id }, { headers })
      if (reply?.status !== 200) continue
      accepted.add(id)
      return
    }
  }

  async #spend(key: string): Promise<void> {
    if (await this.#isAdmitted(key)) this.#ledger.admitted++
  }

  async #useLimited(key: string): Promise<void> {
    const from = performance.now()
    const isAdmitted = await this.#isAdmitted(key)
    if (isAdmitted) this.#ledger.limited.push({ from, until: performance.now() })
  }

  /** A key that hosts remember as valid, and its revocation. */
  async #revoke(): Promise<void> {
    const made = await this.#post('/control/key', {})
    if (made?.status !== 200) return
    const { id, key } = JSON.parse(made.text) as { id: string; key: string }
    for (let host = 0; host < this.#hosts.count; host++) await this.#isAdmitted(key, host)
    const revoked = await this.#post('/control/revoke', { keyId: id })
    if (revoked?.status !== 200) return
    await setTimeout(REVOKED_AFTER_MS)
    this.#ledger.revoked.push(key)
    for (let request = 0; request < 2 * this.#hosts.count; request++) {
      if (await this.#isAdmitted(key)) this.#ledger.admittedRevoked.add(key)
    }
  }

  async #isAdmitted(key: string, host?: number): Promise<boolean> {
    return (await this.#ask('/work', { headers: { 'x-api-key': key } }, host))?.status === 200
  }

  #idOf(kind: 'event' | 'order' | 'step' | 'sent'): string {
    return idOf(kind, this.#ledger.seed, ++this.#count)
  }

  #post(
    path: string,
    body: object,
    { headers, host, ms }: PostOptions = {},
  ): Promise<Reply | null> {
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    return this.#ask(path, request, host, ms)
  }

  /** Any of the hosts, or the one that is named; `null` where it did not answer. */
  async #ask(
    path: string,
    request: RequestInit,
    host?: number,
    ms = REQUEST_MS,
  ): Promise<Reply | null> {
    const place = host ?? Math.floor(this.#random() * this.#hosts.count)
    const url = this.#hosts.urlOf(place)
    if (url === null) return null
    try {
      const reply = await fetch(url + path, { ...request, signal: AbortSignal.timeout(ms) })
      return { status: reply.status, text: await reply.text() }
    } catch {
      return null
    }
  }
}
