/** One statement of the limiter: what it asks for, for which requests, and what its answer makes of them. */
import type { Answer, Batch, Demand, Need, Place } from '../tables/allowances.ts'
import type { Meter } from './meter.ts'
import { membersOf, type MeterList } from './meter-list.ts'

export interface WaitingRequest {
  readonly list: MeterList
  /** How much it takes of the quota. */
  readonly cost: number
  /** How long it may wait. */
  readonly until: number
  readonly settle: (decision: 'passed' | 'unavailable' | MeterList) => void
}

/** How many runs of requests with equal cost one demand has at most. */
const MOST_NEEDS = 100

interface PlaceState {
  readonly place: number
  readonly meter: Meter
  demanded: boolean
  /** How much of what the process holds is for the demands, and the limit that it was allotted for. */
  reserved: number
  under: number
}

interface DemandState extends Demand {
  /** `under`: the limit that what is reserved was allotted for. */
  readonly on: readonly {
    place: number
    meter: Meter
    limit: number
    reserved: number
    under: number
  }[]
  /** The requests that wait for it, in the order in which they came. */
  readonly requests: readonly WaitingRequest[]
}

export class Statement {
  readonly sentAt: number
  /** What it allots to requests is used within that time, or not at all. */
  readonly lateMs: number
  #states = new Map<Meter, PlaceState>()
  #places: Place[] = []
  #demands: DemandState[] = []

  constructor(now: number, lateMs: number) {
    this.sentAt = now
    this.lateMs = lateMs
  }

  get size(): number {
    return this.#states.size
  }

  get isEmpty(): boolean {
    return this.#states.size === 0
  }

  get meters(): Iterable<Meter> {
    return this.#states.keys()
  }

  /** A meter that gives allowances back, or gets some ahead of need. */
  add(meter: Meter): PlaceState {
    let state = this.#states.get(meter)
    if (state === undefined) {
      meter.prune(this.sentAt)
      state = { place: this.size, meter, demanded: false, reserved: 0, under: 0 }
      this.#states.set(meter, state)
    }
    return state
  }

  /** Asks for requests of one key. Returns the requests that have no room in the statement. */
  demand(list: MeterList, requests: WaitingRequest[]): WaitingRequest[] {
    const needs: Need[] = []
    let count = 0
    for (const { cost } of requests) {
      const last = needs.at(-1)
      if (last?.cost === cost) last.times++
      else if (needs.length === MOST_NEEDS) break
      else needs.push({ cost, times: 1 })
      count++
    }
    const on = membersOf(list).map(({ meter, terms }) => {
      const state = this.add(meter)
      const most = needs.reduce((sum, { cost, times }) => sum + meter.costOf(cost) * times, 0)
      meter.use(terms, this.sentAt)
      const reserved = meter.reserve(most, this.sentAt + this.lateMs)
      state.demanded = true
      state.reserved += reserved
      if (reserved > 0) state.under = Math.max(state.under, meter.limit)
      return { place: state.place, meter, limit: terms.limit, reserved, under: meter.limit }
    })
    this.#demands.push({ on, needs, requests: requests.slice(0, count) })
    return requests.slice(count)
  }

  batch(holder: string): Batch {
    const { lateMs, sentAt } = this
    this.#places = [...this.#states.values()].map(({ meter, demanded, reserved }) =>
      meter.ask(demanded, reserved, sentAt),
    )
    return { holder, lateMs, places: this.#places, demands: this.#demands }
  }

  /** Admits the requests that pass. The `others` are over a limit, or were answered too late. */
  apply(answer: Answer, now: number): { passed: WaitingRequest[]; others: WaitingRequest[] } {
    const passed: WaitingRequest[] = []
    const others: WaitingRequest[] = []
    const unused: { place: number; meter: Meter; limit: number; late: number }[] = []
    for (const [index, { on, needs, requests }] of this.#demands.entries()) {
      const passes = answer.passed[index]!
      const mayPass = passesOf(needs, passes)
      let [count, costs] = [0, 0]
      for (const [n, request] of requests.entries()) {
        if (mayPass[n] && this.#admit(request, now)) {
          passed.push(request)
          count++
          costs += request.cost
        } else others.push(request)
      }
      for (const { place, meter, limit, reserved, under } of on) {
        const used = meter.isQuota ? costs : count
        meter.putBack(Math.max(0, reserved - used), under, now)
        const taken = needs.reduce((sum, { cost }, n) => sum + meter.costOf(cost) * passes[n]!, 0)
        const late = Math.max(0, taken - reserved) - Math.max(0, used - reserved)
        unused.push({ place, meter, limit, late })
      }
    }
    for (const { place, meter } of this.#states.values()) {
      meter.apply(this.#places[place]!, answer.places[place]!, this.sentAt, now)
    }
    // A request that was answered too late may be asked for again, with the same statement.
    for (const { place, meter, limit, late } of unused) {
      if (meter.isQuota) meter.putBack(late, limit, now)
      else meter.giveBack(late, answer.places[place]!.stamp)
    }
    return { passed, others }
  }

  /** The process still holds what was reserved. Returns the requests. */
  failed(now: number): WaitingRequest[] {
    for (const { meter, reserved, under } of this.#states.values()) {
      meter.putBack(reserved, under, now)
      meter.failed()
    }
    return this.#demands.flatMap(({ requests }) => requests)
  }

  #admit({ list }: WaitingRequest, now: number): boolean {
    const members = membersOf(list)
    const countsFrom = this.sentAt + this.lateMs
    if (now >= countsFrom) return false
    for (const { meter } of members) meter.prune(now)
    if (members.some(({ meter, terms }) => meter.isFull(terms.limit))) return false
    for (const { meter, terms } of members) meter.admit(terms.limit, now, countsFrom)
    return true
  }
}

/** Whether each of the requests passes, of which `passes` of each need do. */
const passesOf = (needs: readonly Need[], passes: readonly number[]): boolean[] =>
  needs.flatMap(({ times }, n) => Array.from({ length: times }, (_, nth) => nth < passes[n]!))
