/** Decides the filters of many webhooks about one event in one pass. */
import { compileFilter, type Decide } from './compile-filter.ts'
import type { Subject } from './field-path.ts'

/** Something with a filter, as JSON text; `null` lets everything through. */
export interface Filtered {
  filter: string | null
}

/** Texts of compiled filters in memory, in characters: tens of thousands of usual filters. */
const MAX_CHARACTERS = 8 * 1024 * 1024

/** Compiled filters by their texts, the longest unused ones dropped. */
const compiled = new Map<string, Decide>()
let characters = 0

/** Those whose filters match. Equal filters are decided once. */
export function matchingFilters<One extends Filtered>(
  all: readonly One[],
  subject: Subject,
): One[] {
  const decided = new Map<string, boolean>()
  return all.filter(({ filter }) => {
    if (filter === null) return true
    let matches = decided.get(filter)
    if (matches === undefined) {
      matches = decideOf(filter)(subject)
      decided.set(filter, matches)
    }
    return matches
  })
}

function decideOf(text: string): Decide {
  const known = compiled.get(text)
  if (known !== undefined) {
    // Read last, dropped last.
    compiled.delete(text)
    compiled.set(text, known)
    return known
  }
  const decide = compileStored(text)
  compiled.set(text, decide)
  characters += text.length
  for (const oldest of compiled.keys()) {
    if (characters <= MAX_CHARACTERS) break
    compiled.delete(oldest)
    characters -= oldest.length
  }
  return decide
}

/**
 * A host of a later version may store what this one does not know. Nothing is sent to who may not want
 * it: what is missed so is an event that was never delivered, and can be sent later.
 */
const MATCHES_NOTHING: Decide = () => false

/** Whether this version knows what the filter says; where it does not, the filter matches nothing. */
export const isReadable = (filter: string): boolean => decideOf(filter) !== MATCHES_NOTHING

function compileStored(text: string): Decide {
  try {
    return compileFilter(JSON.parse(text))
  } catch {
    return MATCHES_NOTHING
  }
}
