/** How far the handling of a request came that published nothing: for its row in the log. */
import type { Plan } from './events-of-request.ts'

export interface RequestProgress {
  /** Whether the source's `verify` let it through. */
  verified: boolean
  /** What was to be published. */
  plan: Plan | null
}

const NOTHING: RequestProgress = { verified: false, plan: null }

/** Written only where a request ends without an event, so that published requests cost nothing. */
const known = new WeakMap<object, RequestProgress>()

export const recordProgress = (request: object, progress: RequestProgress): void =>
  void known.set(request, progress)

export const progressOf = (request: object): RequestProgress => known.get(request) ?? NOTHING
