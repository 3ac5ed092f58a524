/** What `svc.eraseTenant` does in the tables of webhooks. */
import {
  deleteKeysWithPrefix,
  findAuditedTargets,
  deletePause,
  idsOfTenant,
  isUuid,
  type Core,
  type TenantPart,
} from '@svc/core/internal'
import { namePrefixesOf } from '../inbound/deduplication-key.ts'
import { QUEUE, SUBSCRIPTION } from '../outbound/delivery-queue.ts'
import { eraseLogRows } from '../tables/delivery-log-days.ts'
import { eraseInboundRows } from '../tables/inbound-log.ts'
import { forgetMissedEvents } from '../outbound/recoveries/missed-events.ts'
import { eraseStats } from '../tables/stats.ts'
import {
  deactivateWebhooksOf,
  deleteWebhooks,
  forgetDeletedWebhooks,
  webhookIdsWithin,
} from '../tables/webhooks.ts'

export function createTenantPart(core: Core): TenantPart {
  const { db, queues, fanOut } = core
  return {
    async close(tenant) {
      for (let more = true; more;) {
        more = await core.transaction(async (tx) => {
          const ids = await deactivateWebhooksOf(tx, tenant)
          for (const id of ids) await fanOut.setRecipient(tx, SUBSCRIPTION, { id, events: [] })
          return ids.length > 0
        })
      }
    },

    async erase(tenant) {
      const ids = await webhookIdsWithin(db, tenant)
      const ended = (await findAuditedTargets(db, tenant, 'webhook')).filter((id) => isUuid(id))
      const all = [...new Set([...ids, ...ended])]
      for (const id of ids) await fanOut.setRecipient(db, SUBSCRIPTION, { id, events: [] })
      const { jobs, deadLetters } = await queues.erase(QUEUE, all)
      const { from } = idsOfTenant(tenant)
      await forgetMissedEvents(db, from)
      const logRows =
        (await eraseLogRows(core.db.within(LOG_MS), tenant, all, from)) +
        (await eraseInboundRows(db, tenant))
      let deduplicationKeys = 0
      for (const prefix of namePrefixesOf(tenant)) {
        deduplicationKeys += await deleteKeysWithPrefix(db, prefix)
      }
      const webhooks = await deleteWebhooks(db, ids)
      // One may have become active again before it was deleted.
      for (const id of all) await fanOut.setRecipient(db, SUBSCRIPTION, { id, events: [] })
      await forgetDeletedWebhooks(db, tenant)
      if (await deletePause(db, { queue: QUEUE, tenant })) core.pauses.changed()
      await eraseStats(core.db.within(LOG_MS), tenant, all)
      if (ids.length > 0) queues.recipientsChanged(QUEUE)
      return { webhooks, jobs, deadLetters, logRows, deduplicationKeys }
    },
  }
}

/** Pages that are not in memory are read from the disk. */
const LOG_MS = 120_000
