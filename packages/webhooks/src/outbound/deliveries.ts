/** The operations on deliveries: what routes and actions do. */
import { isUuid, keepEvents, uuidv7, type Core, type Db } from '@svc/core/kit'
import { insertLogRows, listLogRows, type LogFilter, type LogRow } from '../delivery-log.ts'
import { DeliveryNotFound, WebhookInactive, WebhookNotFound } from '../errors.ts'
import { findRegistration, findTargets, holdRegistrations } from '../registrations.ts'
import type { OneAttempt, Queued, Redelivery, Redriven } from '../schemas.ts'
import { attempt, type AttemptSettings } from './attempt.ts'
import { deliveryJobOf, type DeliveryJob } from './job.ts'
import { rowOf } from './log-rows.ts'
import { QUEUE, TEST_EVENT, UNTIL_ACTIVE } from './names.ts'
import type { Post } from './post.ts'
import { recordsOfDead, withPayloads } from './record.ts'
import { assertUuid, found } from './webhooks.ts'

export interface Page {
  limit?: number
  after?: string
}

export interface Deliveries {
  /** One attempt, now. What comes of it is recorded, and nothing is retried. */
  deliver(input: OneAttempt): Promise<LogRow>
  list(webhookId: string, filter?: LogFilter): Promise<LogRow[]>
  listDead(webhookId: string, page?: Page): Promise<LogRow[]>
  redeliver(input: Redelivery): Promise<Queued>
  redrive(webhookId: string): Promise<Redriven>
  test(webhookId: string): Promise<Queued>
}

export interface DeliveriesSettings extends AttemptSettings {
  deliveryLogRetentionDays: number
}

const NEVER = new AbortController().signal

export function deliveriesOf(core: Core, post: Post, settings: DeliveriesSettings): Deliveries {
  const { database } = core.svc

  return {
    async deliver({ webhookId, event, payload, deliveryId, attempt: number }) {
      assertUuid(webhookId)
      const [found] = await findTargets(database, [webhookId])
      if (found === undefined) throw new WebhookNotFound(webhookId)
      if (!found.active) throw new WebhookInactive(webhookId)
      const text = JSON.stringify(payload)
      const delivery = { event, payload: text, deliveryId, attempt: number }
      const { step, attempt: made } = await attempt(post, settings, found, delivery, NEVER)
      const job = { event, eventId: null, target: webhookId, deliveryId, payload: text }
      const row = rowOf(job, made, step.kind === 'delivered' ? 'delivered' : 'failed', null)
      await insertLogRows(database, [row])
      return row
    },

    async list(webhookId, filter = {}) {
      await assertExists(database, webhookId)
      const days = settings.deliveryLogRetentionDays
      return await withPayloads(database, await listLogRows(database, webhookId, days, filter))
    },

    async listDead(webhookId, page = {}) {
      await assertExists(database, webhookId)
      const letters = await core.queues.deadLetters(QUEUE, { group: webhookId, ...page })
      return await recordsOfDead(database, letters)
    },

    async redeliver({ webhookId, deliveryId }) {
      assertUuid(webhookId)
      return await queue(core, webhookId, async (db) => {
        if (!isUuid(deliveryId)) throw new DeliveryNotFound(deliveryId)
        const days = settings.deliveryLogRetentionDays
        const [row] = await listLogRows(db, webhookId, days, { deliveryId, limit: 1 })
        const source = row ?? (await findDead(core, db, webhookId, deliveryId))
        if (source === undefined) throw new DeliveryNotFound(deliveryId)
        // The log will show its payload for as long again.
        const { event: name, eventId } = source
        if (eventId !== null) await keepEvents(db, [{ name, id: eventId }], days)
        return source
      })
    },

    async redrive(webhookId) {
      assertUuid(webhookId)
      const redriven = await core.transaction(async (db) => {
        const startAfter = await startOf(db, webhookId)
        return await core.queues.redrive(QUEUE, { group: webhookId, ...startAfter }, db)
      })
      core.queues.wake(QUEUE)
      return { redriven }
    },

    async test(webhookId) {
      assertUuid(webhookId)
      const payload = JSON.stringify({ webhookId, sentAt: new Date().toISOString() })
      return await queue(core, webhookId, () =>
        Promise.resolve({ event: TEST_EVENT, eventId: null, payload }),
      )
    },
  }
}

type Source = Pick<DeliveryJob, 'event' | 'eventId'> & { payload?: string | null }

/** Queues a delivery of its own id to one webhook; where that is not active it waits. */
async function queue(
  core: Core,
  webhookId: string,
  find: (db: Db) => Promise<Source>,
): Promise<Queued> {
  const deliveryId = uuidv7()
  await core.transaction(async (db) => {
    const startAfter = await startOf(db, webhookId)
    const { event, eventId, payload } = await find(db)
    const inline = typeof payload === 'string' ? { payload } : {}
    const data: DeliveryJob = { event, eventId, target: webhookId, deliveryId, ...inline }
    const job = { id: deliveryId, data, group: webhookId, ...startAfter }
    await core.queues.insert(QUEUE, [job], db)
  })
  core.queues.wake(QUEUE)
  return { deliveryId }
}

/** Holds the webhook as it is, so that whoever pauses or resumes it finds the jobs made meanwhile. */
async function startOf(db: Db, webhookId: string): Promise<{ startAfter?: Date }> {
  const [held] = await holdRegistrations(db, [webhookId])
  return found(webhookId, held).active ? {} : { startAfter: UNTIL_ACTIVE }
}

/** Dead letters are kept longer than the log. */
async function findDead(
  core: Core,
  db: Db,
  webhookId: string,
  deliveryId: string,
): Promise<Source | undefined> {
  let after: string | undefined
  for (;;) {
    const page = { group: webhookId, limit: 1000, ...(after && { after }) }
    const letters = await core.queues.deadLetters(QUEUE, page, db)
    const dead = letters.map(deliveryJobOf).find((job) => job.deliveryId === deliveryId)
    after = letters.at(-1)?.id
    if (dead !== undefined || after === undefined) return dead
  }
}

async function assertExists(db: Db, webhookId: string): Promise<void> {
  assertUuid(webhookId)
  found(webhookId, await findRegistration(db, webhookId))
}
