/** The operations on recoveries: deliveries of a span that are put on their way again. */
import { Type, type Static } from '@sinclair/typebox'
import {
  endedSpan,
  isStatementTimeout,
  listRecoveries,
  MOST_COUNTED,
  narrowedReach,
  reaches,
  uuidOf,
  type RecoveryRequest,
  type Core,
  type Db,
  type Recovery,
} from '@svc/core/internal'
import { InvalidSpan, NoUrl, RecoveryNotFound, WebhookNotFound } from '../errors.ts'
import { QUEUE } from '../outbound/delivery-queue.ts'
import { prepareMissing, previewMissing } from '../outbound/recover-missing.ts'
import { DAY_MS, MONTH_MS } from '../tables/log-spans.ts'
import {
  ListedRecoveries,
  RecoverInput,
  RecoverResult,
  RecoveryId,
  WebhookRecovery,
} from '../recovery-schemas.ts'
import { findWebhook, keepWebhook } from '../tables/webhooks.ts'
import type { StoredWebhook } from '../tables/webhook-row.ts'
import { auditWork } from '../outbound/audit.ts'
import { operation, type Caller } from './caller.ts'
import { assertMayReceive } from './key-events.ts'
import { existing, webhookIdOf } from './webhooks.ts'

/** `isAll`: whether there are no more. */
interface Counted {
  count: number
  isAll: boolean
}

const NOT_COUNTED: Counted = { count: 0, isAll: false }

const resultOf = ({ count, isAll }: Counted): RecoverResult => ({
  deliveries: count,
  ...(!isAll && { atLeast: true as const }),
})

/** A caller may take the time from its own clock. */
const CLOCKS_DIFFER_MS = 60_000

export function recoveryOperations(core: Core, logDays: number) {
  async function recoveriesOf(
    by: Caller,
    { tenant, ...input }: Static<typeof ListedRecoveries> & { id?: string },
  ): Promise<WebhookRecovery[]> {
    const { webhookId: given, ...page } = input
    const webhookId = webhookIdOf(given)
    const webhook = existing(webhookId, await findWebhook(core.readDb, webhookId, by.reach))
    assertMayReceive(by, webhook.events)
    const narrowed = narrowedReach(by.reach, tenant)
    if (narrowed === undefined || !reaches(narrowed, webhook.tenant)) return []
    const recipient = webhook.id
    return (await listRecoveries(core.readDb, QUEUE, { recipient, ...page })).map(shown)
  }

  async function preview(
    db: Db,
    webhook: StoredWebhook,
    request: RecoveryRequest,
  ): Promise<Counted> {
    try {
      const counted = await core.queues.countRecoverable(db, request)
      if (counted !== null) {
        return { count: Math.min(counted, MOST_COUNTED), isAll: counted <= MOST_COUNTED }
      }
    } catch (error) {
      if (!isStatementTimeout(error)) throw error
      return { count: 0, isAll: false }
    }
    const until = await endedSpan(db, request.until)
    return previewMissing(db, { ...request, until }, webhook, { logDays, most: MOST_COUNTED })
  }

  return {
    recover: operation({
      input: RecoverInput,
      output: RecoverResult,
      writes: true,
      routes: {
        'POST /:id/recover': {
          status: 202,
          statusOfDryRun: 200,
          summary: 'Put deliveries of a span on their way again: dead, failed or missing ones',
        },
      },
      async run(by, { dryRun = false, ...input }) {
        const id = webhookIdOf(input.id)
        const { since, until = null, what, perSecond = null } = input
        if (until !== null && Date.parse(until) <= Date.parse(since)) {
          throw new InvalidSpan('until', 'since')
        }
        if (Date.parse(since) > Date.now() + CLOCKS_DIFFER_MS) throw new InvalidSpan('now', 'since')
        const reading = by.db ?? core.readDb
        const found = existing(id, await findWebhook(reading, id, by.reach))
        assertMayReceive(by, found.events)
        if (found.url === null) throw new NoUrl(id)
        const request = { queue: QUEUE, recipient: id, what, since, until, perSecond }
        const isMissing = what === 'missing'
        const fromMs = Math.max(Date.parse(since), Date.now() - logDays * DAY_MS)
        // Not in the transaction of a caller, which would keep the locks of all days that are read.
        const seen = dryRun || isMissing ? await preview(core.readDb, found, request) : NOT_COUNTED
        if (dryRun) return resultOf(seen)
        return await core.within(by.db, async (db): Promise<RecoverResult> => {
          const webhook = existing(id, await findWebhook(db, id, by.reach))
          assertMayReceive(by, webhook.events)
          const recovery = await core.queues.recover(db, request)
          // If there are more, or of more days, the events are written down in the background.
          const deliveries =
            isMissing && seen.isAll && fromMs > Date.now() - MONTH_MS
              ? await prepareMissing(db, recovery, webhook, logDays)
              : recovery.deliveries
          const uncounted = isMissing ? seen : { count: MOST_COUNTED, isAll: false }
          const counted = deliveries === null ? uncounted : { count: deliveries, isAll: true }
          if (!(await keepWebhook(db, id))) throw new WebhookNotFound(id)
          const result = resultOf(counted)
          await auditWork(db, by.origin, 'recover', webhook, {
            recovery: { from: null, to: { id: recovery.id, what, since, until: recovery.until } },
            deliveries: {
              from: null,
              to: counted.isAll ? counted.count : { atLeast: counted.count },
            },
          })
          core.afterCommit(db, () => core.queues.recipientsChanged(QUEUE))
          return { id: recovery.id, ...result }
        })
      },
    }),

    listRecoveries: operation({
      input: ListedRecoveries,
      text: 'webhookId',
      output: Type.Array(WebhookRecovery),
      routes: {
        'GET /:id/recoveries': {
          names: { id: 'webhookId' },
          limit: 100,
          summary: 'List its recoveries, newest first, and how far they are',
        },
      },
      run: recoveriesOf,
    }),

    getRecovery: operation({
      input: RecoveryId,
      output: WebhookRecovery,
      routes: {
        'GET /:id/recoveries/:recoveryId': {
          names: { id: 'webhookId', recoveryId: 'id' },
          summary: 'Say how far a recovery is',
        },
      },
      async run(by, { webhookId, id: given }) {
        const id = uuidOf(given)
        const [found] = id === undefined ? [] : await recoveriesOf(by, { webhookId, id })
        if (found === undefined) throw new RecoveryNotFound(given)
        return found
      },
    }),
  }
}

function shown({
  queue: _,
  recipient,
  hasNotedTransactions: _noted,
  position: _position,
  ...rest
}: Recovery) {
  return { ...rest, webhookId: recipient }
}
