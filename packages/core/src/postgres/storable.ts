/** Text from outside as Postgres can store it: it keeps no NUL and no half of a surrogate pair. */

/** `text`, at most `longest` characters of it, with U+FFFD for what cannot be stored. */
export const storableText = (text: string, longest = Infinity): string =>
  text.slice(0, longest).toWellFormed().replaceAll('\0', '\uFFFD')

/** The JSON of a value, which a column of type `jsonb` takes as well. */
export const storableJson = (value: object): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'string' ? storableText(inner) : inner,
  )

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
