/** The search of lists by name: by the beginnings of words, whatever their case and accents. */
import { Type } from '@sinclair/typebox'
import { wordedPattern } from '../options/patterns.ts'

export const Search = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    // As STORABLE_TEXT, with a letter or a digit.
    pattern: wordedPattern(
      '^[^\\u0000\\ud800-\\udfff]*[\\p{L}\\p{N}][^\\u0000\\ud800-\\udfff]*$',
      'text with a letter or a digit, without NUL and half of a surrogate pair',
    ),
    description:
      'Words or beginnings of words, at least one letter or digit; each must be found. Case and accents do not matter.',
  }),
)

/** The condition of a statement: the words in the column are found by the search in `parameter`, which is read once. */
export const foundBy = (words: string, parameter: string): string =>
  `${words} @@ (select svc."__svc.search_query"(${parameter}::text))`

/**
 * The rows of a table that meet this condition, in place of the table. Planned by itself: how few rows a
 * search finds is not known, and a walk in the order of the list could read all of a table for one.
 */
export const foundRows = (table: string, condition: string): string =>
  `(select * from ${table} where ${condition} offset 0) as found`
