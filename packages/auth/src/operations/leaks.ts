/** Keys that were found in public: they are revoked. */
import { BY_SYSTEM } from '@svc/core/internal'
import { AuthUnavailable } from '../errors.ts'
import {
  isGithubKeys,
  type GithubAlert,
  type GithubFeedback,
  type GithubKey,
} from '../github-alerts.ts'
import { hashOf, LONGEST_KEY } from '../key-format.ts'
import { lockApiKey, revokeApiKey } from '../tables/api-keys.ts'
import { findKeysByHash } from '../tables/stored-keys.ts'
import type { OperationCall, OperationContext } from './context.ts'
import { keyEvent, keyRecord } from './key-records.ts'

/** Revokes those of the tokens that are keys, and returns which they are. */
export async function revokeLeaked(
  context: OperationContext,
  alerts: readonly GithubAlert[],
  { origin }: OperationCall,
): Promise<GithubFeedback[]> {
  const call = { origin: { ...BY_SYSTEM, ...origin, actor: BY_SYSTEM.actor } }
  const feedback: GithubFeedback[] = []
  for (const alert of alerts) {
    const isKey = await revokeIfKey(context, alert, call)
    const label = isKey ? 'true_positive' : 'false_positive'
    feedback.push({ token_raw: alert.token, token_type: alert.type, label })
  }
  return feedback
}

/** Returns whether the token is a key, also one that was revoked before. */
async function revokeIfKey(
  { db, log, changeKeys, record, publish }: OperationContext,
  alert: GithubAlert,
  call: OperationCall,
): Promise<boolean> {
  const { token, url } = alert
  const source = alert.source ?? null
  if (token.length > LONGEST_KEY) return false
  const hash = hashOf(token)
  const found = (await findKeysByHash(db, [hash])).get(hash)
  if (!found) return false
  const revoked = await changeKeys(call, async (tx) => {
    const locked = await lockApiKey(tx, found.id, null)
    if (!locked) return { hashes: [], result: null }
    const { key } = locked
    await revokeApiKey(tx, key.id)
    await record(tx, call, {
      ...keyRecord('key.leak', key, { revoked: false }, { revoked: true, url, source }),
      event: keyEvent('svc.key.leaked', key, { url, source, replacedBy: key.replacedBy }),
    })
    await publish(tx, keyEvent('svc.key.revoked', key))
    return { hashes: [hash], result: key }
  })
  if (revoked) {
    const { id: keyId, replacedBy } = revoked
    log.warn({ keyId, url, source, replacedBy }, 'leaked key revoked')
  }
  return true
}

const LISTED_AT = 'https://api.github.com/meta/public_keys/secret_scanning'
const TIMEOUT_MS = 5000
/** A request can name any key id, so GitHub's keys are fetched no more often than this. */
const REFRESH_AFTER_MS = 60_000

/**
 * @param given the keys of the option
 * @param now milliseconds of a monotonic clock
 * @returns a function that returns the keys; it fetches them from GitHub where `named` is unknown,
 *   and throws AuthUnavailable where no keys are known: GitHub sends the alert again then
 */
export function createGithubKeys(
  given: readonly GithubKey[] | undefined,
  fetchKeys: () => Promise<readonly GithubKey[]> = listedByGithub,
  now = () => performance.now(),
) {
  let keys = given
  let refreshedAt = -Infinity
  let refreshing: Promise<void> | undefined

  async function refresh(): Promise<void> {
    refreshedAt = now()
    try {
      keys = await fetchKeys()
    } catch {
      // Keys that were listed before are still of use.
    }
    refreshing = undefined
  }

  return async (named: string): Promise<readonly GithubKey[]> => {
    const isKnown = keys?.some((key) => key.key_identifier === named)
    if (!given && !isKnown) {
      if (!refreshing && now() - refreshedAt >= REFRESH_AFTER_MS) refreshing = refresh()
      await refreshing
    }
    if (!keys) throw new AuthUnavailable()
    return keys
  }
}

async function listedByGithub(): Promise<GithubKey[]> {
  const answer = await fetch(LISTED_AT, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const { public_keys: keys } = (await answer.json()) as { public_keys?: unknown }
  if (!isGithubKeys(keys)) throw new Error('GitHub lists no keys')
  return keys as GithubKey[]
}
