/**
 * The meters of this process: one for each limit and quota. The keys that a limit counts together
 * share its meter.
 */
import { idOf, type Rule } from '../tables/allowances.ts'
import { Meter } from './meter.ts'

/**
 * The meters that a request with a key must pass, all of them: one, and through `next` the others.
 * Each request walks this list: of an array it would read two more objects from memory.
 */
export interface MeterList {
  meter: Meter
  /** The rule of this key. Keys that share a meter can have different limits. */
  readonly rule: Rule
  readonly next: MeterList | null
}

export function membersOf(list: MeterList): MeterList[] {
  const members: MeterList[] = []
  for (let one: MeterList | null = list; one !== null; one = one.next) members.push(one)
  return members
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
  listOf(rules: readonly Rule[], quota: Rule | null): MeterList | null {
    const strictest = new Map<string, Rule>()
    for (const rule of rules) {
      const other = strictest.get(idOf(rule))
      if (other === undefined || other.limit > rule.limit) strictest.set(idOf(rule), rule)
    }
    const all = quota === null ? [...strictest.values()] : [...strictest.values(), quota]
    return all.reduceRight<MeterList | null>(
      (next, rule) => ({ meter: this.#meterOf(rule), rule, next }),
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
  revive(list: MeterList): void {
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      if (one.meter.isDropped) one.meter = this.#meterOf(one.rule)
    }
  }

  #meterOf(rule: Rule): Meter {
    const known = this.#meters.get(idOf(rule))
    if (known !== undefined) return known
    const meter = new Meter(rule.subject, rule.period, rule.limit)
    this.#meters.set(meter.id, meter)
    return meter
  }
}
