/** How often Postgres may be queried for unknown keys. */
import type { KeyFormat } from '../../key-format.ts'
import { TokenBucket } from './token-bucket.ts'

const AT_ONCE = 2000
const PER_SECOND = 500

export const createLookupBudget = (): TokenBucket => new TokenBucket(AT_ONCE, PER_SECOND)

/** One for each format: unknown keys in another format do not use up the budget of ours. */
export type LookupBudgets = Readonly<Record<KeyFormat, TokenBucket>>

export const createLookupBudgets = (): LookupBudgets => ({
  wellFormed: createLookupBudget(),
  badChecksum: createLookupBudget(),
  otherFormat: createLookupBudget(),
})
