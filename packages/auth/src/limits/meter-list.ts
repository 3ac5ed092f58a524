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
  /** That of this key. Keys that share a meter can have different limits. */
  readonly limit: number
  readonly next: MeterList | null
}

export function membersOf(list: MeterList): MeterList[] {
  const members: MeterList[] = []
  for (let one: MeterList | null = list; one !== null; one = one.next) members.push(one)
  return members
}

export class MeterRegistry {
  /** By subject. */
  #first = new Map<string, Meter>()
  #size = 0

  get size(): number {
    return this.#size
  }

  *values(): Generator<Meter> {
    for (const first of this.#first.values()) {
      for (let meter: Meter | null = first; meter !== null; meter = meter.next) yield meter
    }
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
      (next, rule) => ({ meter: this.#meterOf(rule), limit: rule.limit, next }),
      null,
    )
  }

  drop(meter: Meter): void {
    meter.isDropped = true
    this.#size--
    const first = this.#first.get(meter.subject)
    if (first !== meter) {
      let before = first
      while (before?.next && before.next !== meter) before = before.next
      if (before) before.next = meter.next
    } else if (meter.next === null) this.#first.delete(meter.subject)
    else this.#first.set(meter.subject, meter.next)
  }

  /**
   * Meters of a cached key may have been dropped. They are replaced by the meters that are
   * registered now.
   */
  revive(list: MeterList): void {
    for (let one: MeterList | null = list; one !== null; one = one.next) {
      const { meter, limit } = one
      if (meter.isDropped) one.meter = this.#meterOf({ ...ruleOf(meter), limit })
    }
  }

  #meterOf({ subject, period, limit }: Rule): Meter {
    const first = this.#first.get(subject) ?? null
    let meter = first
    while (meter !== null && meter.period !== period) meter = meter.next
    if (meter !== null) return meter
    meter = new Meter(subject, period, limit)
    // The others keep their place: a sweep may be at one of them.
    meter.next = first === null ? null : first.next
    if (first === null) this.#first.set(subject, meter)
    else first.next = meter
    this.#size++
    return meter
  }
}

const ruleOf = ({ subject, period }: Meter): Pick<Rule, 'subject' | 'period'> => ({
  subject,
  period,
})
