/** What the world outside asks of the hosts, and what of it they acknowledge. */
import { createHmac } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { until } from '../support/until.ts'
import type { Hosts } from './hosts.ts'
import type { Ledger } from './ledger.ts'
import { SENDER_SECRET } from './sender.ts'

const REQUEST_MS = 5000
const PAUSE_MS = 20
/** How often the sender sends a request that is not accepted. */
const SENDER_ATTEMPTS = 5

export interface PresentedKeys {
  limited: string
  revoked: string
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
  run(keys: PresentedKeys): Promise<unknown> {
    const steps = [() => this.publish(), () => this.#send(), () => this.#present(keys)]
    return Promise.all(
      steps.map(async (step) => {
        while (!this.#isOver) {
          await step()
          await setTimeout(PAUSE_MS)
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

  /** As senders do: the same request again until it is accepted. */
  async #send(): Promise<void> {
    const { accepted } = this.#ledger
    const id = `sent-${++this.#count}`
    const text = JSON.stringify({ id })
    const signature = createHmac('sha256', SENDER_SECRET).update(text).digest('hex')
    for (let attempt = 0; attempt < SENDER_ATTEMPTS && !accepted.has(id); attempt++) {
      const headers = { 'x-id': id, 'x-signature': signature }
      const reply = await this.#post('/hooks/sender', { id }, headers)
      if (reply?.status === 200) accepted.add(id)
    }
  }

  async #present({ limited, revoked }: PresentedKeys): Promise<void> {
    const isRevoked = Math.random() < 0.5
    const reply = await this.#ask('/work', {
      headers: { 'x-api-key': isRevoked ? revoked : limited },
    })
    if (reply?.status !== 200) return
    if (isRevoked) this.#ledger.admittedRevoked++
    else this.#ledger.admitted++
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
