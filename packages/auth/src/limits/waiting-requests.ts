/** The requests that wait for allowances, by what they wait for. */
import type { Need, Rule } from '../tables/allowance-terms.ts'
import type { Meter } from './meter.ts'
import type { MeterList } from './meter-registry.ts'

/** What the limiter decides about a request. A meter: the request is over its limit or quota. */
export type LimitDecision = 'passed' | 'unavailable' | Meter

export interface WaitingRequest {
  readonly list: MeterList
  /** How much the request uses of the quota. */
  readonly cost: number
  readonly until: number
  /** Until when it may be held where a limit grants again in a moment. */
  readonly heldUntil: number
  /** `null` once it is decided about. */
  settle: ((decision: LimitDecision) => void) | null
}

/** What requests wait for. */
export interface Waiting {
  /** The strictest one of theirs: what is granted under it, all of them may use. */
  readonly rule: Rule
  /** What they cost, in the order in which they came. */
  readonly needs: readonly Need[]
}

/** Those of more requests with different costs go into the next statement. */
const MOST_NEEDS = 100

export class WaitingRequests {
  #byMeter = new Map<Meter, Set<WaitingRequest>>()

  has(meter: Meter): boolean {
    return this.#byMeter.has(meter)
  }

  /** A request waits for each meter that it lacks. */
  add(meter: Meter, request: WaitingRequest): void {
    const waiting = this.#byMeter.get(meter)
    if (waiting) waiting.add(request)
    else this.#byMeter.set(meter, new Set([request]))
  }

  /**
   * Takes the requests that wait for any of these meters, in the order in which they came. They
   * wait for none of them now.
   */
  takeAll(meters: Iterable<Meter>): WaitingRequest[] {
    const requests = new Set<WaitingRequest>()
    for (const meter of meters) {
      for (const request of this.#byMeter.get(meter) ?? []) requests.add(request)
      this.#byMeter.delete(meter)
    }
    return [...requests].filter(({ settle }) => settle !== null)
  }

  /** Takes the requests for which no statement is under way. */
  takeNotRequested(): WaitingRequest[] {
    return this.takeAll([...this.#byMeter.keys()].filter((meter) => !meter.isRequested))
  }

  /**
   * What they need in all: of the requests of a key no more than its other limits can let through.
   * `null` where none waits.
   */
  of(meter: Meter): Waiting | null {
    const requests = this.#byMeter.get(meter)
    if (requests === undefined) return null
    const left = new Map<MeterList, number>()
    let rule: Rule | null = null
    const needs: Need[] = []
    for (const { list, cost, settle } of requests) {
      // Another limit has decided about it.
      if (settle === null) continue
      const own = ruleOf(list, meter)
      if (rule === null || own.limit < rule.limit) rule = own
      const room = left.get(list) ?? roomBeside(list, meter)
      if (room > 0) addNeed(needs, costOf(meter, cost))
      left.set(list, room - 1)
    }
    return rule && { rule, needs }
  }
}

/** How many allowances they lack of a process that holds so many. */
export function lackingOf(waiting: Waiting | null, held: number): number {
  const needs = waiting?.needs ?? []
  return Math.max(
    0,
    needs.reduce((sum, { cost, times }) => sum + cost * times, -held),
  )
}

/** What a request takes of a meter whose route costs `cost`. */
export const costOf = (meter: Meter, cost: number): number => (meter.isQuota ? cost : 1)

function addNeed(needs: Need[], cost: number): void {
  const last = needs.at(-1)
  if (last?.cost === cost) last.times++
  else if (needs.length < MOST_NEEDS) needs.push({ cost, times: 1 })
}

/** The rule that a key has for one of its meters. By the id: a meter that was dropped was replaced. */
function ruleOf(list: MeterList, { id }: Meter): Rule {
  let one = list
  while (one.meter.id !== id && one.next !== null) one = one.next
  return one.rule
}

/** At least one: a request that waits is decided by the answer. */
function roomBeside(list: MeterList, beside: Meter): number {
  let room = Infinity
  for (let one: MeterList | null = list; one !== null; one = one.next) {
    if (one.meter !== beside) room = Math.min(room, one.meter.roomUnder(one.rule.limit))
  }
  return Math.max(1, room)
}
