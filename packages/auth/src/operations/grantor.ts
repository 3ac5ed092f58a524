import type { Db } from '@svc/core/internal'
import { InvalidKey } from '../errors.ts'
import type { Powers } from '../restrictions.ts'
import { findApiKey } from '../tables/api-keys.ts'
import { isKeyValid } from './key-checks.ts'
import type { OperationCall } from './context.ts'

/** A caller without a row. */
const NO_ROW = {
  expiresAt: null,
  allowedIps: null,
  limits: null,
  quota: null,
}

/** The key of the caller, read again: it may grant only what it has at this moment. */
export async function grantorOf(tx: Db, { caller }: OperationCall): Promise<Powers | undefined> {
  if (caller === undefined) return undefined
  if (caller === null) return { ...NO_ROW, scopes: [] }
  if (caller.keyId === null) return { ...NO_ROW, scopes: [...caller.scopes] }
  const row = await findApiKey(tx, caller.keyId, null)
  // It may have been revoked since the guard of this process read it.
  if (!row || !isKeyValid(row)) throw new InvalidKey()
  return row
}
