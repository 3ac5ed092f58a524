/** What the world outside asks of the hosts, and what of it they acknowledge. */
import { createHmac } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { until } from '../support/until.ts'
import type { Hosts } from './hosts.ts'
import type { Ledger } from './ledger.ts'
import { SENDER_SECRET } from './sender.ts'

const REQUEST_MS = 5000
const PAUSE_MS = 20
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

export class Load {
  readonly #hosts: Hosts
  readonly #ledger: Ledger
  #count = 0
  #isOver = false

  constructor(hosts: Hosts, ledger: Ledger) {
    this.#hosts = hosts
    this.#ledger = ledger
  }

  /** All kinds of requests, one after another in each lane, until `end`. */
  run({ counted, limited }: PresentedKeys): Promise<unknown> {
    const lanes: [() => Promise<unknown>, number][] = [
      [() => this.publish(), PAUSE_MS],
      [() => this.#step(), STEP_PAUSE_MS],
      [() => this.#send(), PAUSE_MS],
      [() => this.#spend(counted), LIMITED_PAUSE_MS],
      [() => this.#useLimited(limited), LIMITED_PAUSE_MS],
      [() => this.#revoke(), PAUSE_MS],
    ]
    return Promise.all(
      lanes.map(async ([step, pauseMs]) => {
        while (!this.#isOver) {
          await step()
          await setTimeout(pauseMs)
        }
      }),
    )
  }

  end(): void {
    this.#isOver = true
  }

  /** An event alone, or in the transaction of an order. */
  async publish(): Promise<boolean> {
    const isOrder = Math.random() < 0.5
    const id = `${isOrder ? 'order' : 'event'}-${++this.#count}`
    const reply = await this.#post(isOrder ? '/control/order' : '/control/publish', { id })
    if (reply?.status !== 200) return false
    this.#ledger.published.add(id)
    return true
  }

  /** Asks a host until it answers. */
  async posted<Answer>(path: string, body: object): Promise<Answer> {
    const reply = await until(
      () => this.#post(path, body),
      (answer) => answer?.status === 200,
    )
    return JSON.parse(reply!.text) as Answer
  }

  async #step(): Promise<void> {
    const id = `step-${++this.#count}`
    const reply = await this.#post('/control/step', { id })
    if (reply?.status === 200) this.#ledger.steps.push(id)
  }

  /** As senders do: the same request again until it is accepted. */
  async #send(): Promise<void> {
    const { sent, accepted } = this.#ledger
    const id = `sent-${++this.#count}`
    const text = JSON.stringify({ id })
    const signature = createHmac('sha256', SENDER_SECRET).update(text).digest('hex')
    sent.add(id)
    for (let attempt = 0; attempt < SENDER_ATTEMPTS && !accepted.has(id); attempt++) {
      const headers = { 'x-id': id, 'x-signature': signature }
      const reply = await this.#post('/hooks/sender', { id }, headers)
      if (reply?.status === 200) accepted.add(id)
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
    for (let host = 0; host < this.#hosts.count; host++) await this.#isAdmitted(key)
    const revoked = await this.#post('/control/revoke', { keyId: id })
    if (revoked?.status !== 200) return
    await setTimeout(REVOKED_AFTER_MS)
    for (let request = 0; request < 2 * this.#hosts.count; request++) {
      if (await this.#isAdmitted(key)) this.#ledger.admittedRevoked++
    }
  }

  async #isAdmitted(key: string): Promise<boolean> {
    return (await this.#ask('/work', { headers: { 'x-api-key': key } }))?.status === 200
  }

  #post(path: string, body: object, headers: Record<string, string> = {}): Promise<Reply | null> {
    return this.#ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }

  /** One of the hosts; `null` where it did not answer. */
  async #ask(path: string, request: RequestInit): Promise<Reply | null> {
    const url = this.#hosts.urlOf(Math.floor(Math.random() * this.#hosts.count))
    if (url === null) return null
    try {
      const reply = await fetch(url + path, { ...request, signal: AbortSignal.timeout(REQUEST_MS) })
      return { status: reply.status, text: await reply.text() }
    } catch {
      return null
    }
  }
}
