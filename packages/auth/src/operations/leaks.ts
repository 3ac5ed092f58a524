/** Keys that were found in public: they are revoked. */
import { BY_SYSTEM, type Db } from '@svc/core/internal'
import type { GithubAlert, GithubFeedback } from '../github-alerts.ts'
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
  const revoked = await changeKeys(call, async (tx: Db) => {
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
