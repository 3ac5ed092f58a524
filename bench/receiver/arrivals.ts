import { now } from '../measure/clock.ts'
import { spreadOf, type Spread } from '../measure/statistics.ts'

const SENT_AT = Buffer.from('"sentAt":')

/** What has come in since the last reset. */
export class Arrivals {
  count = 0
  #latencies = new Map<string, number[]>()
  #counts = new Map<string, number>()
  #firstAt = Number.NaN
  #lastAt = Number.NaN
  #awaited: { count: number; reached: () => void } | undefined

  add(path: string, body: Buffer): void {
    const at = now()
    if (this.count === 0) this.#firstAt = at
    this.#lastAt = at
    this.count++
    this.#counts.set(path, (this.#counts.get(path) ?? 0) + 1)
    const sentAt = sentAtIn(body)
    if (sentAt !== undefined) this.#latenciesAt(path).push(at - sentAt)
    if (this.#awaited && this.count >= this.#awaited.count) this.#awaited.reached()
  }

  /**
   * Waits until so many have come in, and says when the first and the last did, on the clock that
   * all processes share.
   */
  reached(count: number, withinSeconds: number): Promise<{ firstAt: number; lastAt: number }> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`Only ${this.count} of ${count} came in in ${withinSeconds} s.`)),
        withinSeconds * 1000,
      )
      const reached = () => {
        clearTimeout(late)
        resolve({ firstAt: this.#firstAt, lastAt: this.#lastAt })
      }
      if (this.count >= count) reached()
      else this.#awaited = { count, reached }
    })
  }

  countsByPath(): Record<string, number> {
    return Object.fromEntries(this.#counts)
  }

  /** Milliseconds from publish to arrival, of the paths that are given. */
  latencyOf(paths: string[] | undefined): Spread {
    return spreadOf(
      (paths ?? [...this.#latencies.keys()]).flatMap((path) => this.#latenciesAt(path)),
    )
  }

  #latenciesAt(path: string): number[] {
    let latencies = this.#latencies.get(path)
    if (!latencies) this.#latencies.set(path, (latencies = []))
    return latencies
  }
}

/** Payloads that are to be timed carry the moment of their publish. */
function sentAtIn(body: Buffer): number | undefined {
  const start = body.indexOf(SENT_AT)
  if (start < 0) return undefined
  return Number.parseFloat(
    body.toString('latin1', start + SENT_AT.length, start + SENT_AT.length + 24),
  )
}
