/** Text from outside as Postgres can store it: it keeps no NUL and no half of a surrogate pair. */

/** `text`, at most `longest` characters of it, with U+FFFD for what cannot be stored. */
export const storableText = (text: string, longest = Infinity): string =>
  text.slice(0, longest).toWellFormed().replaceAll('\0', '\uFFFD')

/** How JSON writes what Postgres cannot store; also some texts that it can. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/

/** The JSON of a value, which a parameter or a column of type `json` or `jsonb` takes. */
export function storableJson(value: object): string {
  const text = JSON.stringify(value)
  if (!MAY_BE_UNSTORABLE.test(text)) return text
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'string' ? storableText(inner) : inner,
  )
}

const LONGEST_MESSAGE = 10_000

/** The message of what was thrown: anything can be thrown. */
export function storableMessage(thrown: unknown): string {
  try {
    const { message } = (thrown ?? {}) as { message?: unknown }
    const text = typeof message === 'string' ? message : String(thrown)
    return storableText(text, LONGEST_MESSAGE)
  } catch {
    return 'something was thrown that has no text'
  }
}
