/** The operations on recoveries: deliveries of a span that are put on their way again. */
import {
  deleteRecovery,
  listRecoveries,
  narrowedReach,
  reaches,
  uuidOf,
  type RecoveryRequest,
  type Core,
  type Db,
  type Recovery,
} from '@svc/core/internal'
import { InvalidSpan, RecoveryNotFound, WebhookNotFound } from '../errors.ts'
import { QUEUE } from '../outbound/constants.ts'
import { prepareMissing, previewMissing } from '../outbound/recover-missing.ts'
import type {
  ListedRecoveries,
  RecoverInput,
  RecoverResult,
  WebhookRecovery,
} from '../recovery-schemas.ts'
import { findWebhook, keepWebhook } from '../tables/webhooks.ts'
import { auditWork } from '../outbound/audit.ts'
import { THE_PROCESS, type Caller } from './caller.ts'
import { assertMayReceive } from './key-events.ts'
import { existing, webhookIdOf } from './webhooks.ts'

export interface RecoveryOperations {
  recover: (input: RecoverInput, db?: Db, by?: Caller) => Promise<RecoverResult>
  list: (input: ListedRecoveries, by?: Caller) => Promise<WebhookRecovery[]>
  get: (input: { webhookId: string; id: string }, by?: Caller) => Promise<WebhookRecovery>
}

/** There may be millions. */
const COUNTED_WITHIN_MS = 120_000
/** A caller may take the time from its own clock. */
const CLOCKS_DIFFER_MS = 60_000

export function createRecoveryOperations(core: Core, logDays: number): RecoveryOperations {
  async function recoveriesOf(
    { tenant, ...input }: ListedRecoveries & { id?: string },
    by: Caller,
  ): Promise<WebhookRecovery[]> {
    const { webhookId: given, ...page } = input
    const webhookId = webhookIdOf(given)
    const webhook = existing(webhookId, await findWebhook(core.requestDb, webhookId, by.reach))
    assertMayReceive(by, webhook.events)
    const narrowed = narrowedReach(by.reach, tenant)
    if (narrowed === undefined || !reaches(narrowed, webhook.tenant)) return []
    const group = webhook.id
    return (await listRecoveries(core.requestDb, QUEUE, { group, ...page })).map(shown)
  }

  return {
    async recover({ dryRun = false, ...input }, caller, by = THE_PROCESS) {
      const id = webhookIdOf(input.id)
      const { since, until = null, what, perSecond = null } = input
      if (until !== null && Date.parse(until) <= Date.parse(since)) {
        throw new InvalidSpan('until', 'since')
      }
      if (Date.parse(since) > Date.now() + CLOCKS_DIFFER_MS) throw new InvalidSpan('now', 'since')
      const recoverIn = async (db: Db): Promise<RecoverResult> => {
        const webhook = existing(id, await findWebhook(db, id, by.reach))
        assertMayReceive(by, webhook.events)
        const request: RecoveryRequest = {
          queue: QUEUE,
          group: webhook.id,
          what,
          since,
          until,
          perSecond,
        }
        if (dryRun && what !== 'missing') {
          return { deliveries: (await core.queues.countRecoverable(db, request)) ?? 0 }
        }
        const recovery = await core.queues.recover(db, request)
        if (dryRun) {
          const deliveries = await previewMissing(db, recovery, webhook, logDays)
          await deleteRecovery(db, recovery.id)
          return { deliveries }
        }
        const deliveries =
          recovery.deliveries ?? (await prepareMissing(db, recovery, webhook, logDays))
        // Not before: to determine what is missing may take minutes, and a deletion would wait for it.
        if (!(await keepWebhook(db, id))) throw new WebhookNotFound(id)
        await core.queues.expectParked(db, QUEUE, webhook.id)
        await auditWork(db, by.origin, 'recover', webhook, {
          recovery: { from: null, to: { id: recovery.id, what, since, until: recovery.until } },
          deliveries: { from: null, to: deliveries },
        })
        core.afterCommit(db, () => core.queues.groupsChanged(QUEUE))
        return { id: recovery.id, deliveries }
      }
      return await core.within(caller, recoverIn, { timeoutMs: COUNTED_WITHIN_MS })
    },

    list: (input, by = THE_PROCESS) => recoveriesOf(input, by),

    async get({ webhookId, id: given }, by = THE_PROCESS) {
      const id = uuidOf(given)
      const [found] = id === undefined ? [] : await recoveriesOf({ webhookId, id }, by)
      if (found === undefined) throw new RecoveryNotFound(given)
      return found
    },
  }
}

function shown({
  queue: _,
  group,
  hasNotedTransactions: _noted,
  position: _position,
  ...rest
}: Recovery) {
  return { ...rest, webhookId: group }
}
