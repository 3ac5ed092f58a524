/** API keys by number: their texts, requests that present them, and databases that store them. */
import { createHash, hash, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import pg from 'pg'
import type { Limit, Quota } from '@svc/auth'
import type { Bench, Checkout } from '../benchmark.ts'
import type { RequestPattern } from '../load/load-process.ts'
import { query } from '../postgres/server.ts'
import type { GuardedMethods } from './guarded-process.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_DIGITS = 6
const PORTION = 20_000

/** The text of key number `n` in the format of svcAuth, the same in every process. */
export function keyText(n: number): string {
  const body = createHash('md5').update(`key ${n}`).digest('hex')
  let rest = crc32(body)
  let checksum = ''
  for (let i = 0; i < CHECKSUM_DIGITS; i++) {
    checksum = DIGITS[rest % DIGITS.length] + checksum
    rest = Math.floor(rest / DIGITS.length)
  }
  return `svc_${body}${checksum}`
}

export const keyTexts = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => keyText(from + index))

/** Requests for the guarded route that present these keys in turn. */
export const withKeys = (keys: string[]): RequestPattern => ({
  method: 'GET',
  path: '/',
  variants: keys.map((key) => `authorization: Bearer ${key}`),
})

/** What keys from a number on have besides. */
export interface KeyRange {
  keys: number
  limits?: Limit[]
  quota?: Quota
}

/** A database in which one user has the keys from number 0 on, with the tables of a checkout. */
export const keyedDatabase = (bench: Bench, keys: number, checkout?: Checkout): Promise<string> =>
  rangedDatabase(bench, [{ keys }], checkout)

/** The same with ranges of keys, one after another. */
export async function rangedDatabase(
  bench: Bench,
  ranges: KeyRange[],
  checkout?: Checkout,
  tenant: string | null = null,
): Promise<string> {
  const database = await bench.database()
  const host = await bench.start<GuardedMethods>('guard/guarded-process.ts', { checkout })
  await host.call('start', 'svcAuth', { database, keys: [] })
  await host.stop()
  const id = randomUUID()
  await query(
    database,
    `insert into svc."__svc.auth.users" (id, tenant, email, name, role)
     values ('${id}', nullif('${tenant ?? ''}', ''), 'bench@example.com', 'Bench', 'user')`,
  )
  let from = 0
  for (const range of ranges) {
    await storeKeys(database, id, from, range)
    from += range.keys
  }
  return database
}

/** Directly into the table: the API would take hours for a million keys. */
async function storeKeys(
  database: string,
  userId: string,
  first: number,
  { keys, limits, quota }: KeyRange,
): Promise<void> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    for (let from = 0; from < keys; from += PORTION) {
      const texts = keyTexts(first + from, Math.min(PORTION, keys - from))
      await client.query(
        `insert into svc."__svc.auth.api_keys" (id, user_id, key_hash, key_prefix, scopes, limits, quota)
         select gen_random_uuid(), $1, hash, prefix, '{read,write}', $4, $5
           from unnest($2::text[], $3::text[]) as given (hash, prefix)`,
        [
          userId,
          texts.map((text) => hash('sha256', text, 'hex')),
          texts.map((text) => text.slice(0, 8)),
          limits ? JSON.stringify(limits) : null,
          quota ? JSON.stringify(quota) : null,
        ],
      )
    }
    await client.query('vacuum analyze svc."__svc.auth.api_keys"')
  } finally {
    await client.end()
  }
}
