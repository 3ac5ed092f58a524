/** The import of keys that another system has made. */
import { InvalidInput } from '@svc/core'
import { changesOf, EVERYWHERE, isUuid, uuidOf, uuidv7, type Db } from '@svc/core/internal'
import { OperatorOnly } from '../errors.ts'
import { foreignHashOf, hashOfHex } from '../key-format.ts'
import { assertMayGrant, UNBOUND } from '../restrictions.ts'
import { ImportResult, KeyImport, type ImportedKey } from '../schemas.ts'
import {
  findKnownHashes,
  insertImportedKeys,
  type ImportedKeyRow,
} from '../tables/imported-keys.ts'
import { lockUsers } from '../tables/users.ts'
import {
  operation,
  performedBy,
  reachOfCall,
  type OperationCall,
  type OperationContext,
} from './context.ts'
import { grantorOf } from './key-checks.ts'
import { checkedFields, withinLifetime } from './key-values.ts'

const LARGEST_BODY = 8 * 1024 * 1024
const DEFAULT_PREFIX = 'imported'

/** An entry of the call whose own fields are right. */
interface Entry {
  index: number
  given: ImportedKey
  row: ImportedKeyRow
}

export function importOperation(context: OperationContext) {
  const { log, scopes: names, settings, changeKeys, within, record } = context

  function entryOf(given: ImportedKey, index: number): Entry {
    const { scopes, limits, allowedIps, keyPrefix = DEFAULT_PREFIX, createdAt = null } = given
    const { label = null, metadata = null, quota = null } = given
    at(index, 'scopes', () => checkedFields(names, { scopes }))
    at(index, 'limits', () => checkedFields(names, { limits }))
    at(index, 'allowedIps', () => checkedFields(names, { allowedIps }))
    if (createdAt !== null && Date.parse(createdAt) > Date.now()) {
      throw wrong(index, 'createdAt', 'must be a time that has passed')
    }
    const chosen = { label, metadata, quota, allowedIps, limits, scopes }
    const { enabled: _enabled, ...fields } = checkedFields(names, chosen)
    const hashes = hashesOf(given, index)
    const userId = uuidOf(given.userId) ?? ''
    return { index, given, row: { id: uuidv7(), userId, ...hashes, keyPrefix, createdAt, fields } }
  }

  /** Exactly one of them. */
  function hashesOf(
    { sha256, hash }: ImportedKey,
    index: number,
  ): Pick<ImportedKeyRow, 'hash' | 'foreignHash'> {
    if (sha256 !== undefined && hash !== undefined) {
      throw wrong(index, 'hash', 'must be left out where there is sha256: an entry has one of them')
    }
    if (hash !== undefined) {
      if (settings.importedKeys === undefined) {
        throw wrong(
          index,
          'hash',
          'needs the option "importedKeys" of svcAuth, which makes such a hash of the text of a key',
        )
      }
      return { hash: null, foreignHash: foreignHashOf(hash) }
    }
    if (sha256 === undefined)
      throw wrong(index, 'sha256', 'is missing, and so is hash: give one of them')
    const digest = digestOf(sha256)
    if (digest === undefined) {
      throw wrong(index, 'sha256', 'must be 32 bytes in hex, base64 or base64url')
    }
    return { hash: digest, foreignHash: null }
  }

  /** Its expiry, the limits of whoever imports it, and its user, which a key that is known may have no more. */
  function completed(
    { index, given, row }: Entry,
    grantor: Grantor,
    tenants: Tenants,
  ): ImportedKeyRow {
    if (!tenants.has(row.userId)) throw wrong(index, 'userId', 'is of no user: create it first')
    const { expiresAt } = given
    const { enabled: _enabled, ...fields } = at(index, 'expiresAt', () => {
      const checked = checkedFields(names, { expiresAt }, { ...row.fields, enabled: true })
      return withinLifetime(checked, Date.now(), settings.maxKeyLifetimeDays)
    })
    if (grantor) at(index, null, () => assertMayGrant(names, grantor, fields))
    return { ...row, fields }
  }

  async function insert(tx: Db, call: OperationCall, entries: readonly Entry[]) {
    const grantor = await grantorOf(tx, call)
    const known = await findKnownHashes(
      tx,
      entries.map(({ row }) => row),
    )
    const seen = new Set([...known.hashes, ...known.foreignHashes])
    const fresh = entries.filter(({ row: { hash, foreignHash } }) => {
      const own = hash ?? foreignHash ?? ''
      return !seen.has(own) && seen.add(own)
    })
    const userIds = new Set(fresh.map(({ row }) => row.userId).filter(isUuid))
    const tenants = await lockUsers(tx, [...userIds])
    const rows = fresh.map((entry) => completed(entry, grantor, tenants))
    const bounds = call.mayLoosen === false ? UNBOUND : null
    const written = new Set(await insertImportedKeys(tx, rows, bounds))
    const skipped = entries
      .filter(({ row }) => !written.has(row.id))
      .map(({ index }) => ({ index, reason: 'known' as const }))
    const ofTenants = new Set(rows.map(({ userId }) => tenants.get(userId) ?? null))
    const [tenant = null] = ofTenants.size === 1 ? ofTenants : []
    const result = { imported: written.size, skipped }
    await record(tx, call, {
      action: 'key.import',
      tenant,
      target: { kind: 'import', id: uuidv7() },
      changes: changesOf({}, { imported: result.imported, skipped: skipped.length }),
    })
    return { hashes: rows.flatMap(({ hash }) => hash ?? []), result }
  }

  return {
    importApiKeys: operation({
      input: KeyImport,
      output: ImportResult,
      writes: true,
      routes: {
        'POST /keys/import': {
          summary: 'Import keys of another system, by hashes of their texts; for the operator',
          config: { scopes: ['admin'] },
          bodyLimit: LARGEST_BODY,
        },
      },
      async run(call, { keys }) {
        if (reachOfCall(call) !== EVERYWHERE) throw new OperatorOnly()
        const entries = keys.map(entryOf)
        // No cache has a key that an open transaction makes.
        const { result } =
          call.db === undefined
            ? { result: await changeKeys(call, (tx) => insert(tx, call, entries)) }
            : await within(call, (tx) => insert(tx, call, entries))
        const { imported, skipped } = result
        log.info({ imported, skipped: skipped.length, ...performedBy(call) }, 'keys imported')
        return result
      },
    }),
  }
}

type Grantor = Awaited<ReturnType<typeof grantorOf>>
/** By the ids of users. */
type Tenants = Awaited<ReturnType<typeof lockUsers>>

const HEX = /^[0-9a-f]{64}$/i
/** 32 bytes: 43 digits, and one `=` of padding, which base64url may lack. */
const BASE64 = /^[A-Za-z0-9+/]{43}=?$|^[A-Za-z0-9_-]{43}=?$/

function digestOf(text: string): string | undefined {
  if (HEX.test(text)) return hashOfHex(text)
  return BASE64.test(text) ? Buffer.from(text, 'base64').toString('latin1') : undefined
}

/** In the words of a validation: `keys/3/sha256 must be …`. */
const placeOf = (index: number, field: string | null): string =>
  `keys/${index}${field === null ? '' : `/${field}`}`

const wrong = (index: number, field: string, problem: string): Error =>
  new InvalidInput(`${placeOf(index, field)} ${problem}`)

/** What a check throws names the entry. */
function at<T>(index: number, field: string | null, check: () => T): T {
  try {
    return check()
  } catch (error) {
    const coded = error as Error
    coded.message = `${placeOf(index, field)}: ${coded.message}`
    throw coded
  }
}
