/**
 * The meters of this process: one for each limit and quota. The keys that a limit counts together
 * share its meter.
 */
import { idOf, type Rule } from '../tables/allowance-terms.ts'
import { Meter } from './meter.ts'

/**
 * The meters that a request with a key must pass, all of them: one, and through `next` the others.
 * Each request walks this list: of an array it would read two more objects from memory.
 */
export interface MeterList {
  meter: Meter
  /**
   * The rule of this key. Keys that share a meter can have different limits, such as a rotated key
   * and its successor.
   */
  readonly rule: Rule
  readonly next: MeterList | null
}

/** The meters of a key, each with the limit of this key. To be called before they are asked what is left. */
export function metersOf(list: MeterList): Meter[] {
  const meters: Meter[] = []
  for (let one: MeterList | null = list; one !== null; one = one.next) {
    if (one.meter.rule !== one.rule) one.meter.change(one.rule)
    meters.push(one.meter)
  }
  return meters
}

export class MeterRegistry {
  #meters = new Map<string, Meter>()

  get size(): number {
    return this.#meters.size
  }

  values(): MapIterator<Meter> {
    return this.#meters.values()
  }

  /**
   * The meters for the rules of one key, `null` without any. Of two rules for one period the
   * stricter one holds.
   */
  listOf(rules: readonly Rule[], quota: Rule | null, now: number): MeterList | null {
    const strictest = new Map<string, Rule>()
    for (const rule of rules) {
      const other = strictest.get(idOf(rule))
      if (other === undefined || other.limit > rule.limit) strictest.set(idOf(rule), rule)
    }
    const all = quota === null ? [...strictest.values()] : [...strictest.values(), quota]
    return all.reduceRight<MeterList | null>(
      (next, rule) => ({ meter: this.#meterOf(rule, now), rule, next }),
      null,
    )
  }

  drop(meter: Meter): void {
    meter.isDropped = true
    this.#meters.delete(meter.id)
  }

  /**
   * Meters of a cached key may have been dropped. They are replaced by the meters that are
   * registered now.
   */
  revive(list: MeterList, now: number): void {
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      const { meter } = one
      if (meter.isDropped) one.meter = this.#meters.get(meter.id) ?? this.#add(meter, now)
    }
  }

  #meterOf(rule: Rule, now: number): Meter {
    const known = this.#meters.get(idOf(rule))
    if (known === undefined) return this.#add(new Meter(rule), now)
    known.lower(rule.limit, now)
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
