/**
 * Publishes of the same moment share one transaction: single ones manage one or two thousand a
 * second, batches twenty times that. Each promise resolves after the commit that holds its event.
 */
import type { EventRow } from './event-log.ts'
import { keyOf, type Published } from './publish.ts'

type Result = Published['results'][number]

interface Waiting {
  event: EventRow
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

const LARGEST = 1000
/** Two, so that one batch fills while another commits. */
const IN_FLIGHT = 2

export class MicroBatch {
  #commit: (events: EventRow[]) => Promise<Result[]>
  #waiting: Waiting[] = []
  #inFlight = 0

  /** `commit` publishes a batch in a transaction of its own. */
  constructor(commit: (events: EventRow[]) => Promise<Result[]>) {
    this.#commit = commit
  }

  publish(event: EventRow): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(() => this.#flush())
    })
  }

  #flush(): void {
    if (this.#waiting.length === 0 || this.#inFlight >= IN_FLIGHT) return
    const batch = this.#takeDistinct()
    this.#inFlight++
    void this.#send(batch).finally(() => {
      this.#inFlight--
      this.#flush()
    })
    if (this.#waiting.length > 0) this.#flush()
  }

  /** An event that stands in the batch already waits for the next one, which finds it a replay. */
  #takeDistinct(): Waiting[] {
    const batch = new Map<string, Waiting>()
    const later: Waiting[] = []
    for (const one of this.#waiting.splice(0, LARGEST)) {
      const key = keyOf(one.event)
      if (batch.has(key)) later.push(one)
      else batch.set(key, one)
    }
    this.#waiting.unshift(...later)
    return [...batch.values()]
  }

  async #send(batch: Waiting[]): Promise<void> {
    try {
      this.#settle(batch, await this.#commit(batch.map(({ event }) => event)))
    } catch (error) {
      const [only] = batch
      if (batch.length === 1 && only) only.reject(error)
      // One bad row must not hurt the others: each for itself.
      else if (isAboutRows(error)) await Promise.all(batch.map((one) => this.#send([one])))
      else for (const one of batch) one.reject(error)
    }
  }

  #settle(batch: Waiting[], results: Result[]): void {
    for (const [index, { resolve }] of batch.entries()) {
      const result = results[index]
      if (result) resolve(result)
    }
  }
}

/** SQLSTATE classes 22 (data), 23 (constraints), 40 (deadlocks), 54 (limits): not the server itself. */
const isAboutRows = (error: unknown): boolean =>
  /^(22|23|40|54)/.test(String((error as { code?: unknown })?.code ?? ''))
