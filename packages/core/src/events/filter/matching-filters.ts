/** Decides the filters of many webhooks about one event in one pass. */
import { compileVerdict, type Verdict } from './compile-filter.ts'
import type { Subject } from './field-path.ts'

/** Something with a filter, as JSON text; `null` lets everything through. */
export interface Filtered {
  filter: string | null
}

/** Texts of compiled filters in memory, in characters: tens of thousands of usual filters. */
const MAX_CHARACTERS = 8 * 1024 * 1024

/** Compiled filters by their texts, the longest unused ones dropped. */
const compiled = new Map<string, Verdict>()
let characters = 0

export interface Matches<One> {
  matched: One[]
  /** To decide these is more work than one filter may be: they do not match. */
  costly: One[]
}

/** Whose filters match. Equal filters are decided once. */
export function matchingFilters<One extends Filtered>(
  all: readonly One[],
  subject: Subject,
): Matches<One> {
  const decided = new Map<string, boolean | null>()
  const matches: Matches<One> = { matched: [], costly: [] }
  for (const one of all) {
    const { filter } = one
    if (filter !== null && !decided.has(filter)) decided.set(filter, verdictOf(filter)(subject))
    const verdict = filter === null || decided.get(filter)
    if (verdict === true) matches.matched.push(one)
    else if (verdict === null) matches.costly.push(one)
  }
  return matches
}

function verdictOf(text: string): Verdict {
  const known = compiled.get(text)
  if (known !== undefined) {
    // Read last, dropped last.
    compiled.delete(text)
    compiled.set(text, known)
    return known
  }
  const verdict = compileStored(text)
  compiled.set(text, verdict)
  characters += text.length
  for (const oldest of compiled.keys()) {
    if (characters <= MAX_CHARACTERS) break
    compiled.delete(oldest)
    characters -= oldest.length
  }
  return verdict
}

/**
 * A host of a later version may store what this one does not know. Nothing is sent to who may not want
 * it: what is missed so is an event that was never delivered, and can be sent later.
 */
const MATCHES_NOTHING: Verdict = () => false

/** Whether this version knows what the filter says; where it does not, the filter matches nothing. */
export const isReadable = (filter: string): boolean => verdictOf(filter) !== MATCHES_NOTHING

function compileStored(text: string): Verdict {
  try {
    return compileVerdict(JSON.parse(text))
  } catch {
    return MATCHES_NOTHING
  }
}
