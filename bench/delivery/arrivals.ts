import { spreadOf, type Spread } from '../measure.ts'
import { now } from '../traffic.ts'

/** What has arrived since it was made, by the path of the request or the name of the event. */
export class Arrivals {
  count = 0
  #lastAt = Number.NaN
  #byName = new Map<string, { count: number; lastAt: number; latencies: number[] }>()
  #awaited: { count: number; reached: () => void } | undefined

  add(name: string, sentAt: number | undefined): void {
    const at = now()
    this.#lastAt = at
    this.count++
    let own = this.#byName.get(name)
    if (!own) this.#byName.set(name, (own = { count: 0, lastAt: at, latencies: [] }))
    own.count++
    own.lastAt = at
    if (sentAt !== undefined) own.latencies.push(at - sentAt)
    if (this.#awaited && this.count >= this.#awaited.count) this.#awaited.reached()
  }

  /** Waits until `count` have arrived, and returns when the last one did. */
  reached(count: number, withinSeconds: number): Promise<{ lastAt: number }> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`only ${this.count} of ${count} arrived in ${withinSeconds} s`)),
        withinSeconds * 1000,
      )
      const reached = () => {
        clearTimeout(late)
        resolve({ lastAt: this.#lastAt })
      }
      if (this.count >= count) reached()
      else this.#awaited = { count, reached }
    })
  }

  countOf(name: string): number {
    return this.#byName.get(name)?.count ?? 0
  }

  /** When the last one arrived under one of these names. */
  lastAt(names: string[]): number {
    return Math.max(...names.map((name) => this.#byName.get(name)?.lastAt ?? Number.NaN))
  }

  /** Milliseconds from publish to arrival, of some names or of all. */
  latency(names: string[] = [...this.#byName.keys()]): Spread {
    return spreadOf(names.flatMap((name) => this.#byName.get(name)?.latencies ?? []))
  }
}
