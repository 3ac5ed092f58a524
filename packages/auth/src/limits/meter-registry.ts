/**
 * The meters of this process: one for each limit and quota. The keys that a limit counts together
 * share its meter.
 */
import { idOf, type Rule } from '../tables/allowance-terms.ts'
import { Meter } from './meter.ts'

/** The meters that a request with a key must pass, all of them. */
export interface MeterSet {
  meters: Meter[]
  /**
   * The rule of this key for each meter. Keys that share a meter can have different limits, such as
   * a rotated key and its successor.
   */
  readonly rules: readonly Rule[]
  /** The meter among `meters` that a route's `cost` is taken from. */
  quota: Meter | null
}

export class MeterRegistry {
  #meters = new Map<string, Meter>()

  get size(): number {
    return this.#meters.size
  }

  values(): MapIterator<Meter> {
    return this.#meters.values()
  }

  /** The meters for the rules of one key. Of two rules for one period the stricter one holds. */
  setOf(rules: readonly Rule[], quota: Rule | null, now: number): MeterSet {
    const strictest = new Map<string, Rule>()
    for (const rule of rules) {
      const other = strictest.get(idOf(rule))
      if (other === undefined || other.limit > rule.limit) strictest.set(idOf(rule), rule)
    }
    const meters = [...strictest.values()].map((rule) => this.#meterOf(rule, now))
    const last = quota && this.#meterOf(quota, now)
    const all = last ? [...meters, last] : meters
    return { meters: all, rules: all.map(({ rule }) => rule), quota: last }
  }

  drop(meter: Meter): void {
    meter.isDropped = true
    this.#meters.delete(meter.id)
  }

  /**
   * Meters of a cached key may have been dropped. They are replaced by the meters that are
   * registered now.
   */
  revive(set: MeterSet, now: number): void {
    set.meters = set.meters.map((meter) => {
      if (!meter.isDropped) return meter
      const current = this.#meters.get(meter.id) ?? this.#add(meter, now)
      if (meter === set.quota) set.quota = current
      return current
    })
  }

  #meterOf(rule: Rule, now: number): Meter {
    const known = this.#meters.get(idOf(rule))
    if (known === undefined) return this.#add(new Meter(rule), now)
    known.change(rule)
    return known
  }

  #add(meter: Meter, now: number): Meter {
    meter.isDropped = false
    meter.usedAt = now
    this.#meters.set(meter.id, meter)
    return meter
  }
}
