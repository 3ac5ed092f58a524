/** Brings the secrets of all webhooks under the first key of the option `encryption`. */
import type { Core, Db } from '@svc/core/internal'
import { isCurrent, open, seal } from '../tables/sealed-columns.ts'
import { lockSecretColumns, updateSecretColumns } from '../tables/webhook-secrets.ts'

const BATCH = 200

/** Returns how many webhooks were written. Each batch is a transaction of its own. */
export async function reencryptWebhooks(core: Core): Promise<number> {
  let written = 0
  let after: string | null = null
  do {
    const batch: { last: string | null; written: number } = await core.transaction((db) =>
      reencryptBatch(core, db, after),
    )
    written += batch.written
    after = batch.last
  } while (after !== null)
  return written
}

async function reencryptBatch({ cipher }: Core, db: Db, after: string | null) {
  const rows = await lockSecretColumns(db, after, BATCH)
  const old = rows.filter((row) => !isCurrent(cipher, row))
  for (const row of old) {
    await updateSecretColumns(db, row.id, seal(cipher, row.id, open(cipher, row.id, row)))
  }
  return { last: rows.at(-1)?.id ?? null, written: old.length }
}
