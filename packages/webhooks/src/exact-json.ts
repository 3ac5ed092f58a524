/** JSON whose numbers stay as they are written: `JSON.parse` rounds those that are no doubles. */

/** Of the newer parts of JSON that the types of TypeScript lack. */
interface Json {
  parse: (
    json: string,
    reviver: (key: string, value: unknown, context: { source: string }) => unknown,
  ) => unknown
  rawJSON: (json: string) => unknown
  isRawJSON: (value: unknown) => boolean
}
const { parse, rawJSON, isRawJSON } = JSON as unknown as Json

export { isRawJSON }

/** What may be a number: texts have such parts as well. */
const NUMBER = /(?:^|[:[,])\s*(-?\d[\d.eE+-]*)/g

/** Whether `JSON.stringify` may write a number of it in another way. Many times faster than to parse each by itself. */
function isPerhapsInexact(json: string): boolean {
  for (const [, number] of json.matchAll(NUMBER)) if (String(Number(number)) !== number) return true
  return false
}

/** To be written as JSON again, and not to be calculated with: some of its numbers are objects. */
export const parsedExactly = (json: string): unknown =>
  isPerhapsInexact(json)
    ? parse(json, (_key, value, { source }) =>
        typeof value === 'number' && String(value) !== source ? rawJSON(source) : value,
      )
    : JSON.parse(json)
