/** How far a request came that published nothing. */
import type { Plan } from './to-publish.ts'

export interface Reached {
  /** Whether the source's `verify` let it through. */
  verified: boolean
  /** What was to be published. */
  plan: Plan | null
}

const NOTHING: Reached = { verified: false, plan: null }

/** Written where a request ends without an event: what is published costs nothing here. */
const known = new WeakMap<object, Reached>()

export const recordReached = (request: object, reached: Reached): void =>
  void known.set(request, reached)

export const reachedBy = (request: object): Reached => known.get(request) ?? NOTHING
