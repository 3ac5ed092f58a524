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

/** A search that finds so many rows is one for a common word. */
const MANY = 1000
/** The newest rows that are looked at for such a word. */
const WALKED = 10_000

/** Conditions of a list by `id`, newest first. */
interface NewestFound {
  /** What the search finds. */
  found: string
  /** The same, of one row that is looked at. @default `found` */
  isFound?: string
  /** A statement whose rows are counted, up to {@link MANY}. @default the rows that are found */
  some?: string
  /** Those that an index in the order of the list meets: of the tenant, and of the page. */
  within: string
  /** All others. */
  listed: string
  limit: string
}

/**
 * In place of the table, rows that meet the conditions, among them the newest `limit`. Of a common word these
 * are mostly among the newest rows of the table: they are looked at first, so that not all that it finds is
 * read and sorted for one page.
 */
export function newestFound(table: string, page: NewestFound): string {
  const { found, within, listed, limit } = page
  const { isFound = found, some = `select 1 from ${table} where ${found}` } = page
  return `(
  with matching as materialized (${some}),
       newest as materialized (
         select * from (select * from ${table} where ${within} order by id desc limit ${WALKED}) as walked
          where (select count(*) = ${MANY} from (select 1 from matching limit ${MANY}) as few)
            and ${isFound} and ${listed}
          order by id desc limit ${limit})
  select * from newest where (select count(*) from newest) = ${limit}
  union all
  (select * from ${table}
    where ${found} and ${within} and ${listed}
      and (select count(*) from newest) is distinct from ${limit} offset 0)) as found`
}
