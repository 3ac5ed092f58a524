/**
 * The meters of this process: one for each limit and quota. The keys that a limit counts together
 * share its meter.
 */
import { idOf, type Period, type Rule } from '../tables/allowances.ts'
import { Meter } from './meter.ts'
import { termsOf, type Terms } from './terms.ts'

/**
 * The meters that a request with a key must pass, all of them: one, and through `next` the others.
 * Each request walks this list: of an array it would read two more objects from memory.
 */
export interface MeterList {
  meter: Meter
  /** Those of this key. Keys that share a meter can have different limits. */
  readonly terms: Terms
  readonly next: MeterList | null
}

export function membersOf(list: MeterList): MeterList[] {
  const members: MeterList[] = []
  for (let one: MeterList | null = list; one !== null; one = one.next) members.push(one)
  return members
}

/** How many different terms are kept, to be shared. */
const MOST_TERMS = 1000

export class MeterRegistry {
  /** By period, then by subject. */
  #meters = new Map<Period, Map<string, Meter>>()
  /** By their policy. */
  #terms = new Map<string, Terms>()

  get size(): number {
    return [...this.#meters.values()].reduce((sum, ofPeriod) => sum + ofPeriod.size, 0)
  }

  find(subject: string, period: Period): Meter | undefined {
    return this.#meters.get(period)?.get(subject)
  }

  *values(): Generator<Meter> {
    for (const ofPeriod of this.#meters.values()) yield* ofPeriod.values()
  }

  /**
   * The meters for the rules of one key, `null` without any. Of two rules for one period the
   * stricter one holds. The quotas, of the key and of its tenant, come last.
   */
  listOf(
    rules: readonly Rule[],
    quota: Rule | null,
    tenantQuota: Rule | null = null,
  ): MeterList | null {
    const strictest = new Map<string, Rule>()
    for (const rule of rules) {
      const other = strictest.get(idOf(rule))
      if (other === undefined || other.limit > rule.limit) strictest.set(idOf(rule), rule)
    }
    if (tenantQuota !== null) this.#releaseOthers(tenantQuota)
    const quotas = [quota, tenantQuota].filter((one) => one !== null)
    return [...strictest.values(), ...quotas].reduceRight<MeterList | null>((next, rule) => {
      const terms = this.#shared(termsOf(rule, next && next.terms))
      return { meter: this.#meterOf(rule.subject, terms), terms, next }
    }, null)
  }

  /** What this process holds of the quota that the tenant had by another plan. */
  #releaseOthers({ subject, period, periods }: Rule): void {
    for (const other of periods ?? []) {
      if (other !== period) this.#meters.get(other)?.get(subject)?.release()
    }
  }

  drop(meter: Meter): void {
    meter.state = 'dropped'
    this.#meters.get(meter.terms.period)?.delete(meter.subject)
  }

  /**
   * Meters of a cached key may have been dropped. They are replaced by the meters that are
   * registered now.
   */
  revive(list: MeterList): void {
    for (const one of membersOf(list)) {
      if (one.meter.state === 'dropped') one.meter = this.#meterOf(one.meter.subject, one.terms)
    }
  }

  #shared(terms: Terms): Terms {
    const known = this.#terms.get(terms.policy)
    if (known) return known
    if (this.#terms.size === MOST_TERMS) this.#terms.clear()
    this.#terms.set(terms.policy, terms)
    return terms
  }

  #meterOf(subject: string, terms: Terms): Meter {
    const ofPeriod = this.#meters.get(terms.period) ?? new Map<string, Meter>()
    this.#meters.set(terms.period, ofPeriod)
    const meter = ofPeriod.get(subject) ?? new Meter(subject, terms)
    ofPeriod.set(subject, meter)
    return meter
  }
}
