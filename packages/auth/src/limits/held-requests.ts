/**
 * Requests that are over a limit which grants again in a moment. They are held until then instead of
 * being refused: a header field in whole seconds cannot tell a client to come a few milliseconds later.
 */
import type { Meter } from './meter.ts'
import type { WaitingRequest } from './waiting-requests.ts'

/** Requests of a meter beyond its limit could not pass, and beyond this number they are refused. */
const MOST_OF_A_METER = 100

export class HeldRequests {
  #byMeter = new Map<Meter, WaitingRequest[]>()
  #runAfter: (ms: number, run: () => void) => void

  constructor(runAfter: (ms: number, run: () => void) => void) {
    this.#runAfter = runAfter
  }

  hasRoomFor(meter: Meter): boolean {
    const held = this.#byMeter.get(meter)?.length ?? 0
    return held < Math.min(MOST_OF_A_METER, meter.rule.limit)
  }

  /** `retry` is called with the requests of one meter, in the order in which they came. */
  add(
    meter: Meter,
    request: WaitingRequest,
    forMs: number,
    retry: (requests: readonly WaitingRequest[]) => void,
  ): void {
    const held = this.#byMeter.get(meter)
    if (held) return void held.push(request)
    const requests = [request]
    this.#byMeter.set(meter, requests)
    this.#runAfter(forMs, () => {
      this.#byMeter.delete(meter)
      retry(requests)
    })
  }
}
