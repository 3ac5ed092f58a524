import { now } from '../measure/clock.ts'
import { spreadOf, type Spread } from '../measure/statistics.ts'

const SENT_AT = Buffer.from('"sentAt":')

/** What has come in since the last reset. */
export class Arrivals {
  count = 0
  #lines = new Map<string, { count: number; lastAt: number; latencies: number[] }>()
  #firstAt = Number.NaN
  #lastAt = Number.NaN
  #awaited: { count: number; reached: () => void } | undefined

  add(path: string, body: Buffer): void {
    const at = now()
    if (this.count === 0) this.#firstAt = at
    this.#lastAt = at
    this.count++
    const line = this.#lineAt(path)
    line.count++
    line.lastAt = at
    const sentAt = sentAtIn(body)
    if (sentAt !== undefined) line.latencies.push(at - sentAt)
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

  /** How many have come in at some of the paths, and when the last did. */
  at(paths: string[]): { count: number; lastAt: number } {
    const lines = paths.map((path) => this.#lineAt(path))
    return {
      count: lines.reduce((sum, { count }) => sum + count, 0),
      lastAt: Math.max(...lines.map(({ lastAt }) => lastAt)),
    }
  }

  /** Milliseconds from publish to arrival, at some of the paths or at all. */
  latencyOf(paths: string[] = [...this.#lines.keys()]): Spread {
    return spreadOf(paths.flatMap((path) => this.#lineAt(path).latencies))
  }

  #lineAt(path: string) {
    let line = this.#lines.get(path)
    if (!line) this.#lines.set(path, (line = { count: 0, lastAt: Number.NaN, latencies: [] }))
    return line
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
