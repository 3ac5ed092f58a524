/** The requests that wait for allowances, by what they wait for. */
import type { Meter } from './meter.ts'
import { metersOf, type MeterList } from './meter-registry.ts'

/** What the limiter decides about a request. A meter: the request is over its limit or quota. */
export type LimitDecision = 'passed' | 'unavailable' | Meter

export interface WaitingRequest {
  readonly list: MeterList
  /** How much the request uses of the quota. */
  readonly cost: number
  readonly until: number
  /** `null` once it is decided about. */
  settle: ((decision: LimitDecision) => void) | null
}

export class WaitingRequests {
  #byMeter = new Map<Meter, Set<WaitingRequest>>()

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

  /** What they need in all: of the requests of a key no more than its other limits can let through. */
  needOf(meter: Meter): number {
    const requests = this.#byMeter.get(meter)
    if (requests === undefined) return 0
    const left = new Map<MeterList, number>()
    let sum = 0
    for (const { list, cost, settle } of requests) {
      // Another limit has decided about it.
      if (settle === null) continue
      const room = left.get(list) ?? roomBeside(list, meter)
      if (room > 0) sum += costOf(meter, cost)
      left.set(list, room - 1)
    }
    return sum
  }
}

/** What a request takes of a meter whose route costs `cost`. */
export const costOf = (meter: Meter, cost: number): number => (meter.isQuota ? cost : 1)

/** At least one: a request that waits is decided by the answer. */
const roomBeside = (list: MeterList, beside: Meter): number =>
  Math.max(
    1,
    Math.min(...metersOf(list).map((meter) => (meter === beside ? Infinity : meter.room))),
  )
