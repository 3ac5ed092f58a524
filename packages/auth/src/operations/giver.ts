import type { Db } from '@svc/core/internal'
import { InvalidKey } from '../errors.ts'
import type { Giver } from '../restrictions.ts'
import { findApiKey } from '../tables/api-keys.ts'
import type { OperationCall } from './context.ts'

/** A caller without a row. */
const NOBODY = {
  id: null,
  tenant: null,
  expiresAt: null,
  allowedIps: null,
  limits: null,
  quota: null,
}

/** The key that asks, read anew: what it may give is what it has now. */
export async function giverOf(tx: Db, { caller }: OperationCall): Promise<Giver | undefined> {
  if (caller === undefined) return undefined
  if (caller === null) return { ...NOBODY, scopes: [] }
  if (caller.keyId === null) return { ...NOBODY, scopes: [...caller.scopes] }
  const row = await findApiKey(tx, caller.keyId, null)
  if (!row) throw new InvalidKey()
  return row
}
