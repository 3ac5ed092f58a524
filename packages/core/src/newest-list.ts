/** Lists by `id`, newest first, and their search by name. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { ListTooLong } from './errors.ts'
import type { Db } from './postgres/transaction.ts'

/** A search that finds so `many` rows is one for a common word: the newest `walked` rows are looked at. */
const AT_FIRST = { many: 1000, walked: 10_000 }
/** Where these do not fill the page. */
const THEN = { many: 20_000, walked: 50_000 }
/** A page that may end early is searched for so long, and any other list. */
const LONGEST_PAGE_MS = 1500
const LONGEST_LIST_MS = 5000

/** A list by `id`, newest first. `$1` is the id that it follows, `$2` how many rows are wanted. */
interface NewestList {
  table: string
  columns: string
  /** Conditions that an index in the order of the list meets. */
  within: string
  /** All others. @default none */
  listed?: string
  /** What a search finds: its words are the last parameter. */
  found: string
  /** The same, of one row that is looked at. @default `found` */
  isFound?: string
  /** A statement whose rows are counted. @default the rows that are found */
  some?: string
}

interface ListPart {
  after?: string | undefined
  limit?: number | undefined
  search?: string | undefined
}

const page = new AsyncLocalStorage<{ cutAt?: string }>()

/** Reads a page of a list. Its search may end early: the next page follows `cutAt` then. */
export async function cutPage<Row>(
  read: () => Promise<Row[]>,
): Promise<{ rows: Row[]; cutAt?: string }> {
  const cut = {}
  const rows = await page.run(cut, read)
  return { rows, ...cut }
}

/**
 * `values`: the parameters from `$3` on, without the words.
 *
 * @throws ListTooLong where it is no page that may end early
 */
export async function listNewest<Row extends { id: string }>(
  db: Db,
  list: NewestList,
  { after, limit, search }: ListPart,
  values: unknown[],
): Promise<Row[]> {
  const { table, columns, within, listed = 'true' } = list
  if (search === undefined) {
    const text = `select ${columns} from ${table} where ${FOLLOWS} and ${within} and ${listed} order by id desc limit $2`
    return (await db.query(text, [after ?? null, limit ?? null, ...values])).rows
  }
  const cut = page.getStore()
  const endMs = performance.now() + (cut ? LONGEST_PAGE_MS : LONGEST_LIST_MS)
  const found: Row[] = []
  for (let last = after; ;) {
    const wanted = limit === undefined ? null : limit - found.length
    const text = newestFound(list, last === after ? AT_FIRST : THEN)
    const { rows } = await db.query(text, [last ?? null, wanted, ...values, search])
    const end = rows.at(-1) as Found | undefined
    for (const { isEnd, ...row } of rows as Found[]) if (!isEnd) found.push(row as Row)
    if (!end?.isEnd) return found
    last = end.id
    if (performance.now() < endMs) continue
    if (!cut) throw new ListTooLong()
    cut.cutAt = last
    return found
  }
}

interface Found {
  id: string
  isEnd: boolean
}

const FOLLOWS = '($1::uuid is null or id < $1)'

/**
 * The newest rows that a search finds. Those of a common word are mostly among the newest of the list, so
 * that these are looked at in their order: not all that it finds is read for one page. If they do not fill
 * it, the last row is that which was looked at last, with `isEnd`.
 */
function newestFound(list: NewestList, { many, walked }: typeof THEN): string {
  const { table, columns, within, listed = 'true', found, isFound = found } = list
  const { some = `select 1 from ${table} where ${found}` } = list
  const walk = `from ${table} where ${FOLLOWS} and ${within} order by id desc limit`
  return `
  with many as materialized (select count(*) = ${many} as it from (${some} limit ${many}) as few),
       newest as materialized (
         select * from (select * ${walk} ${walked}) as walked
          where (select it from many) and ${isFound} and ${listed} order by id desc limit $2),
       listed as (
         select *, false as "isEnd" from newest
         union all
         (select *, false from ${table}
           where ${found} and ${FOLLOWS} and ${within} and ${listed} and not (select it from many) offset 0)
         union all
         select *, true from (select * ${walk} 1 offset ${walked - 1}) as last
          where (select it from many) and (select count(*) from newest) is distinct from $2)
  select ${columns}, "isEnd" from listed order by id desc, "isEnd" limit $2`
}
