/** The operations on keys. `key-values.ts` has their common code for the fields of a key. */
import { Type, type Static } from '@sinclair/typebox'
import { ForeignTenant } from '@svc/core'
import { EVERYWHERE, isUuid, narrowedReach, Nothing, uuidv7, type Db } from '@svc/core/internal'
import { AlreadyRotated, KeyLimitReached, KeyNotFound, UserNotFound } from '../errors.ts'
import { DEFAULT_OVERLAP_SECONDS, type Bounds, type KeyFields } from '../key-fields.ts'
import { withKeyDemand } from '../guard/policy/policy-map.ts'
import type { Plan } from '../limit-fields.ts'
import { NO_PLAN } from '../limits/plans.ts'
import { generateKey, hashOf, prefixOf } from '../key-format.ts'
import {
  assertKeepsCounts,
  assertMayChange,
  assertMayGrant,
  assertWithinBounds,
  assertWithinPlan,
  boundsOf,
  endsLater,
  UNBOUND,
  underPlan,
} from '../restrictions.ts'
import {
  ApiKey,
  CreatedApiKey,
  Id,
  KeyFilter,
  KeyRotation,
  KeysOfUser,
  ListedApiKey,
  OneKey,
  KeyUpdate,
  NewApiKey,
  OwnRotation,
  tenantFilter,
  type KeyChanges,
  type User,
} from '../schemas.ts'
import {
  endApiKey,
  findApiKey,
  insertApiKey,
  listApiKeys,
  lockApiKey,
  replaceApiKey,
  revokeApiKey,
  updateApiKey,
  type LockedKey,
} from '../tables/api-keys.ts'
import { forgetExpiryNotice } from '../tables/key-notices.ts'
import { countKeysOfTenant, lockKeysOfTenant } from '../tables/tenants.ts'
import { findUser, lockUser } from '../tables/users.ts'
import {
  operation,
  performedBy,
  reachOfCall,
  type OperationCall,
  type OperationContext,
} from './context.ts'
import { grantorOf } from './key-checks.ts'
import { endOf, keyEvent, keyRecord, revocationOf } from './key-records.ts'
import { withUsage } from './limit-usage.ts'
import { checkedFields, fieldsOf, DEFAULT_FIELDS, withinLifetime } from './key-values.ts'

export function keyOperations(context: OperationContext) {
  const { readDb, log, scopes: names, settings, changeKeys, record, writeLastUsed } = context
  const { hasPlans, planOf } = context

  /** @throws KeyNotFound where the caller reaches no such key, or it is revoked */
  async function lockedKey(tx: Db, id: string, call: OperationCall): Promise<LockedKey> {
    const locked = isUuid(id) ? await lockApiKey(tx, id, reachOfCall(call)) : undefined
    if (!locked) throw new KeyNotFound()
    return locked
  }

  /**
   * `key`: the expired key that a PATCH makes valid again; without it the room is for a new key.
   *
   * @throws KeyLimitReached
   */
  async function assertRoom(
    tx: Db,
    tenant: string | null,
    { maxKeys = Infinity }: Plan,
    key?: ApiKey,
  ): Promise<void> {
    const most = Math.min(settings.maxKeysPerTenant ?? Infinity, maxKeys)
    if (most === Infinity || tenant === null) return
    await lockKeysOfTenant(tx, tenant)
    if ((await countKeysOfTenant(tx, tenant, key?.id ?? null)) < most) return
    throw new KeyLimitReached(String(most))
  }

  /**
   * Asks for the plan before the transaction begins, where its tenant is known then: the host may take as
   * long to answer as it likes, and a connection of the pool.
   */
  const askForPlan = async (row: { tenant: string | null } | undefined): Promise<void> => {
    await planOf(row?.tenant ?? null)
  }

  /** The latest expiry of a key that is made now; `null` where its life has no limit. */
  const latestExpiry = (): string | null =>
    withinLifetime(DEFAULT_FIELDS, Date.now(), settings.maxKeyLifetimeDays).expiresAt

  const withLifetimeOf = ({ createdAt }: ApiKey, fields: KeyFields): KeyFields =>
    withinLifetime(fields, Date.parse(createdAt), settings.maxKeyLifetimeDays)

  async function insert(
    tx: Db,
    userId: string,
    fields: KeyFields,
    { bounds, replaces }: { bounds: Bounds | null; replaces: string | null },
  ) {
    const key = generateKey(settings.keyPrefix)
    const hash = hashOf(key)
    const keyPrefix = prefixOf(key)
    const id = uuidv7()
    const row = await insertApiKey(tx, { id, userId, hash, keyPrefix, fields, bounds, replaces })
    return { row, hash, key }
  }

  async function rotate(
    { id, overlapSeconds = DEFAULT_OVERLAP_SECONDS }: KeyRotation,
    call: OperationCall,
    isOwn: boolean,
  ): Promise<CreatedApiKey> {
    const { old, made } = await changeKeys(call, async (tx) => {
      const user = await userOf(tx, id, call)
      const { key: locked, hash, isExpired, bounds } = await lockedKey(tx, id, call)
      if (isExpired || !user) throw new KeyNotFound()
      // A rotated key ends with its overlap; its successor kept the end that it had.
      const { expiresAt } = (await revokedSuccessor(tx, locked, isOwn)) ?? locked
      // The answer has the text of the new key, which can do all that the old one can.
      const grantor = isOwn ? undefined : await grantorOf(tx, call)
      if (grantor) assertMayGrant(names, grantor, { ...locked, expiresAt })
      const carried = { ...fieldsOf(locked), expiresAt: earlier(expiresAt, latestExpiry()) }
      const former = locked.replaces && (await endApiKey(tx, locked.replaces))
      if (former) await record(tx, call, endOf(former))
      const inserted = await insert(tx, locked.userId, carried, { bounds, replaces: locked.id })
      const replaced = await replaceApiKey(tx, id, inserted.row.id, overlapSeconds)
      const replacedBy = inserted.row.id
      await record(tx, call, {
        ...keyRecord(
          'key.rotate',
          locked,
          { replacedBy: locked.replacedBy, expiresAt: locked.expiresAt },
          { replacedBy, expiresAt: replaced.expiresAt },
        ),
        event: keyEvent('svc.key.rotated', replaced, { replacedBy }),
      })
      const result = { old: replaced, made: inserted }
      return { hashes: [hash, inserted.hash, ...(former ? [former.hash] : [])], result }
    })
    const details = { keyId: old.id, replacedBy: made.row.id, ...performedBy(call) }
    log.info(details, 'key rotated')
    return shownOnce(made.row, made.key)
  }

  /**
   * Where the answer of a rotation did not arrive, the text of the successor is unknown. Once the successor
   * is revoked, another caller can rotate the key again. The key itself cannot: it would outlive its
   * overlap.
   *
   * @throws AlreadyRotated
   */
  async function revokedSuccessor(
    tx: Db,
    { replacedBy }: ApiKey,
    isOwn: boolean,
  ): Promise<ApiKey | undefined> {
    if (replacedBy === null) return undefined
    const successor = await findApiKey(tx, replacedBy, EVERYWHERE)
    if (isOwn || successor?.revokedAt === null) throw new AlreadyRotated(replacedBy)
    return successor
  }

  /** The row of the user is locked before that of the key, as by a deletion of the user. */
  async function userOf(tx: Db, id: string, call: OperationCall): Promise<User | undefined> {
    const key = isUuid(id) ? await findApiKey(tx, id, reachOfCall(call)) : undefined
    return key && (await lockUser(tx, key.userId, reachOfCall(call)))
  }

  async function list(
    call: OperationCall,
    { tenant, include, ...filter }: Static<typeof KeyFilter>,
  ): Promise<ListedApiKey[]> {
    const reach = narrowedReach(reachOfCall(call), tenant)
    const isNobody = filter.userId !== undefined && !isUuid(filter.userId)
    if (reach === undefined || isNobody) return []
    await writeLastUsed()
    const keys = await listApiKeys(readDb, reach, filter)
    return include ? withUsage(context, keys) : keys
  }

  const operations = {
    createApiKey: operation({
      input: NewApiKey,
      output: CreatedApiKey,
      writes: true,
      routes: {
        'POST /users/:userId/keys': {
          body: 'object',
          status: 201,
          summary: 'Create a key; its text is in this answer and nowhere else',
        },
      },
      async run(call, { userId, tenant, ...given }) {
        const reach = reachOfCall(call)
        if (reach !== null && tenant !== undefined && tenant !== reach) throw new ForeignTenant()
        const { maxKeyLifetimeDays: days } = settings
        const asked = withinLifetime(checkedFields(names, given), Date.now(), days)
        if (!isUuid(userId)) throw new UserNotFound()
        if (hasPlans) await askForPlan(await findUser(readDb, userId, reach))
        const { row, key } = await changeKeys(call, async (tx) => {
          const grantor = await grantorOf(tx, call)
          // Without an expiry it gets the longest lifetime, or what its caller has left of its own.
          const isFilledIn = days !== undefined && !given.expiresAt
          const longest = isFilledIn && grantor ? grantor.expiresAt : null
          const fields = { ...asked, expiresAt: earlier(asked.expiresAt, longest) }
          if (grantor) assertMayGrant(names, grantor, fields)
          const user = await lockUser(tx, userId, reach)
          if (!user) throw new UserNotFound()
          if (tenant !== undefined && tenant !== user.tenant) throw new ForeignTenant()
          const plan = await planOf(user.tenant)
          if (isOfTenant(call)) assertWithinPlan(plan, undefined, fields)
          await assertRoom(tx, user.tenant, plan)
          const bounds = call.mayLoosen === false ? UNBOUND : null
          const made = await insert(tx, userId, fields, { bounds, replaces: null })
          const facts = { userId: user.id, ...fieldsOf(made.row), key: made.key }
          await record(tx, call, {
            ...keyRecord('key.create', made.row, {}, facts),
            event: keyEvent('svc.key.created', made.row),
          })
          return { hashes: [made.hash], result: made }
        })
        const { id: keyId, scopes } = row
        log.info({ keyId, userId, scopes, ...performedBy(call) }, 'key created')
        return shownOnce(row, key)
      },
    }),

    listKeysOfUser: operation({
      input: KeysOfUser,
      output: Type.Array(ListedApiKey),
      routes: {
        'GET /users/:userId/keys': {
          takes: { ...tenantFilter, include: KeyFilter.properties.include },
          limit: 1000,
          summary: 'List the keys of a user, newest first',
        },
      },
      async run(call, filter) {
        const { userId } = filter
        const isThere = isUuid(userId) && (await findUser(readDb, userId, reachOfCall(call)))
        if (!isThere) throw new UserNotFound()
        return list(call, filter)
      },
    }),

    revokeApiKey: operation({
      input: Id,
      output: Nothing,
      writes: true,
      routes: { 'DELETE /keys/:id': { status: 204, summary: 'Revoke a key' } },
      async run(call, keyId) {
        await changeKeys(call, async (tx) => {
          const { key, hash } = await lockedKey(tx, keyId, call)
          await revokeApiKey(tx, keyId)
          await record(tx, call, revocationOf(key))
          return { hashes: [hash], result: undefined }
        })
        log.info({ keyId, ...performedBy(call) }, 'key revoked')
      },
    }),

    listApiKeys: operation({
      input: KeyFilter,
      output: Type.Array(ListedApiKey),
      routes: { 'GET /keys': { limit: 1000, summary: 'List keys, newest first' } },
      run: list,
    }),

    getApiKey: operation({
      input: OneKey,
      text: 'id',
      output: ListedApiKey,
      routes: { 'GET /keys/:id': { summary: 'Get a key' } },
      async run(call, { id, include }): Promise<ListedApiKey> {
        if (!isUuid(id)) throw new KeyNotFound()
        await writeLastUsed()
        const key = await findApiKey(readDb, id, reachOfCall(call))
        if (!key) throw new KeyNotFound()
        const [withIt] = include ? await withUsage(context, [key]) : []
        return withIt ?? key
      },
    }),

    updateApiKey: operation({
      input: KeyUpdate,
      output: ApiKey,
      writes: true,
      routes: { 'PATCH /keys/:id': { summary: 'Change a key, disable it or enable it again' } },
      async run(call, { id, ...changes }) {
        // Where its plan is not known, a key can be disabled all the same.
        const needsPlan =
          hasPlans &&
          [changes.limits, changes.quota, changes.expiresAt].some((one) => one !== undefined)
        if (needsPlan && isUuid(id)) {
          await askForPlan(await findApiKey(readDb, id, reachOfCall(call)))
        }
        const key = await changeKeys(call, async (tx) => {
          const locked = await lockedKey(tx, id, call)
          const { key: before, hash, isExpired, isImported } = locked
          const checked = checkedFields(names, changes, fieldsOf(before))
          const wanted = changes.expiresAt === undefined ? checked : withLifetimeOf(before, checked)
          const isProlonged = endsLater(wanted.expiresAt, before.expiresAt)
          if (isProlonged && before.replacedBy !== null) throw new AlreadyRotated(before.replacedBy)
          const plan = needsPlan ? await planOf(before.tenant) : NO_PLAN
          if (isProlonged && isExpired && !isImported) {
            await assertRoom(tx, before.tenant, plan, before)
          }
          const grantor = await grantorOf(tx, call)
          if (grantor) assertMayChange(names, grantor, before, wanted)
          if (isOfTenant(call)) assertWithinPlan(plan, before, wanted)
          if (call.caller?.keyId === before.id) {
            assertKeepsCounts(underPlan(before, plan), underPlan(wanted, plan))
          }
          const changed = Object.keys(changes)
          const after = await updateApiKey(
            tx,
            before.id,
            changed,
            wanted,
            boundsAfter(call, locked, changes, wanted),
          )
          if (isProlonged) await forgetExpiryNotice(tx, before.id)
          const change = keyRecord('key.update', after, fieldsOf(before), fieldsOf(after))
          if (Object.keys(change.changes ?? {}).length > 0) await record(tx, call, change)
          return { hashes: [hash], result: after }
        })
        log.info({ keyId: id, ...performedBy(call) }, 'key changed')
        return key
      },
    }),

    rotateApiKey: operation({
      input: KeyRotation,
      output: CreatedApiKey,
      writes: true,
      routes: {
        'POST /keys/:id/rotate': {
          status: 201,
          summary: 'Rotate a key; the text of the new one is in this answer and nowhere else',
        },
      },
      run: (call, input) => rotate(input, call, false),
    }),
  }

  /** A key rotates itself: its successor is as restricted as it is. */
  const rotateOwnKey = operation({
    input: OwnRotation,
    output: CreatedApiKey,
    routes: {
      'POST /me/rotate': {
        status: 201,
        summary:
          'Rotate the presented key; the text of the new one is in this answer and nowhere else',
        config: withKeyDemand({}, 'any-key'),
      },
    },
    async run(call, input) {
      const id = call.caller?.keyId ?? null
      if (id === null) throw new KeyNotFound()
      return rotate({ ...input, id }, call, true)
    },
  })
  return { operations, rotateOwnKey }
}

/**
 * What bounds callers that may not loosen a key, after this change.
 *
 * @throws NotGrantable where the caller is one of them, and loosens it
 */
function boundsAfter(
  { mayLoosen = true }: OperationCall,
  { key: before, bounds }: LockedKey,
  changes: KeyChanges,
  after: Bounds,
): Bounds | null {
  if (mayLoosen) {
    const given = Object.entries(boundsOf(after)).filter(([field]) => field in changes)
    return bounds && { ...bounds, ...Object.fromEntries(given) }
  }
  const kept = bounds ?? boundsOf(before)
  assertWithinBounds(kept, before, after)
  return Object.keys(kept).some((field) => field in changes) ? kept : bounds
}

/** A caller of a tenant; what the operator gives to a key may be more than the plan does. */
const isOfTenant = (call: OperationCall): boolean => reachOfCall(call) !== EVERYWHERE

const earlier = (one: string | null, other: string | null): string | null =>
  one === null || (other !== null && Date.parse(other) < Date.parse(one)) ? other : one

function shownOnce(row: ApiKey, key: string): CreatedApiKey {
  const { revokedAt: _revoked, lastUsedAt: _used, ...created } = row
  return { ...created, key }
}
