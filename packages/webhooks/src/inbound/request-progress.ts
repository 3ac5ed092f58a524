/** How far a request came that published nothing. */
import type { Plan } from './events-of-request.ts'

export interface RequestProgress {
  /** Whether the source's `verify` let it through. */
  verified: boolean
  /** What was to be published. */
  plan: Plan | null
}

const NOTHING: RequestProgress = { verified: false, plan: null }

/** Written where a request ends without an event: what is published costs nothing here. */
const known = new WeakMap<object, RequestProgress>()

export const recordProgress = (request: object, progress: RequestProgress): void =>
  void known.set(request, progress)

export const progressOf = (request: object): RequestProgress => known.get(request) ?? NOTHING
