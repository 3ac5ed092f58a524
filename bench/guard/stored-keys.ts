import { hash } from 'node:crypto'
import pg from 'pg'
import { keyTexts } from './key-texts.ts'

const PORTION = 20_000

/** Gives one user so many keys, the first of them number 0, past the API: a million takes half a minute. */
export async function storeKeys(database: string, userId: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    for (let from = 0; from < count; from += PORTION) {
      const texts = keyTexts(from, Math.min(PORTION, count - from))
      await client.query(
        `insert into svc."__svc.auth.api_keys" (id, user_id, key_hash, key_prefix, scopes)
         select gen_random_uuid(), $1, hash, prefix, '{read,write}'
           from unnest($2::text[], $3::text[]) as given (hash, prefix)`,
        [
          userId,
          texts.map((text) => hash('sha256', text, 'hex')),
          texts.map((text) => text.slice(0, 8)),
        ],
      )
    }
    await client.query('vacuum analyze svc."__svc.auth.api_keys"')
  } finally {
    await client.end()
  }
}
