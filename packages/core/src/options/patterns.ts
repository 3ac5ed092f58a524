/** Patterns of schemas, and what they allow in words: an error says that in place of the pattern. */

const words = new Map<string, string>()

/** `allows` continues "must be". */
export function wordedPattern(pattern: string, allows: string): string {
  words.set(pattern, allows)
  return pattern
}

export const allowedBy = (pattern: string): string | undefined => words.get(pattern)
