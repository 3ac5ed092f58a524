/** The operations on deliveries: what routes and actions do. */
import { isUuid, retainEvents, uuidv7, type Core, type Db } from '@svc/core/internal'
import { insertLogRows, listLogRows, type LogFilter, type LogRow } from '../tables/delivery-log.ts'
import { DeliveryNotFound, WebhookInactive, WebhookNotFound } from '../errors.ts'
import { findRegistration, findTargets, holdRegistrations } from '../tables/webhooks.ts'
import type { OneAttempt, Queued, Redelivery, Redriven } from '../schemas.ts'
import { attempt, type AttemptSettings } from '../outbound/delivery/attempt.ts'
import { deliveryJobOf, type DeliveryJob } from '../outbound/delivery/delivery-job.ts'
import { rowOf } from '../outbound/delivery/log-entry.ts'
import { QUEUE, TEST_EVENT } from '../outbound/constants.ts'
import type { Post } from '../outbound/http/post.ts'
import { fittingPage, recordsOfDead, withPayloads } from './delivery-records.ts'
import { assertUuid, found } from './webhooks.ts'

export interface Page {
  limit?: number
  after?: string
}

/** A page of records with their payloads. */
export interface Shown {
  records: LogRow[]
  /** Whether the list goes on: a page is bounded by its bytes as well. */
  hasMore: boolean
}

export interface Deliveries {
  /** One attempt, now. What comes of it is recorded, and nothing is retried. */
  deliver(input: OneAttempt): Promise<LogRow>
  /** All of them without a `limit`; with `pageBytes` fewer where their payloads have more bytes. */
  list(webhookId: string, filter?: LogFilter, pageBytes?: number): Promise<Shown>
  listDead(webhookId: string, page?: Page, pageBytes?: number): Promise<Shown>
  redeliver(input: Redelivery): Promise<Queued>
  redrive(webhookId: string): Promise<Redriven>
  test(webhookId: string): Promise<Queued>
}

export interface DeliveriesSettings extends AttemptSettings {
  deliveryLogRetentionDays: number
}

const NEVER = new AbortController().signal

export function deliveriesOf(core: Core, post: Post, settings: DeliveriesSettings): Deliveries {
  const { db: database } = core

  async function shown(
    limit: number | undefined,
    pageBytes: number | undefined,
    list: (limit: { limit?: number }) => Promise<LogRow[]>,
  ): Promise<Shown> {
    const found = await list(limit === undefined ? {} : { limit: limit + 1 })
    const asked = limit === undefined ? found : found.slice(0, limit)
    const rows = pageBytes === undefined ? asked : await fittingPage(database, asked, pageBytes)
    return { records: await withPayloads(database, rows), hasMore: rows.length < found.length }
  }

  return {
    async deliver({ webhookId, event, payload, deliveryId, attempt: number }) {
      assertUuid(webhookId)
      const [target] = await findTargets(database, [webhookId])
      if (target === undefined) throw new WebhookNotFound(webhookId)
      if (!target.active) throw new WebhookInactive(webhookId)
      const text = JSON.stringify(payload)
      const delivery = { event, payload: text, deliveryId, attempt: number }
      const { step, attempt: made } = await attempt(post, settings, target, delivery, NEVER)
      const job = { event, eventId: null, target: webhookId, deliveryId, payload: text }
      const row = rowOf(job, made, step.kind === 'delivered' ? 'delivered' : 'failed', null)
      await insertLogRows(database, [row])
      return row
    },

    async list(webhookId, filter = {}, pageBytes) {
      await assertExists(database, webhookId)
      const days = settings.deliveryLogRetentionDays
      return await shown(filter.limit, pageBytes, (limit) =>
        listLogRows(database, webhookId, days, { ...filter, ...limit }),
      )
    },

    async listDead(webhookId, page = {}, pageBytes) {
      await assertExists(database, webhookId)
      return await shown(page.limit, pageBytes, async (limit) =>
        recordsOfDead(
          await core.queues.deadLetters(database, QUEUE, { group: webhookId, ...page, ...limit }),
        ),
      )
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
        if (eventId !== null) await retainEvents(db, [{ name, id: eventId }], days)
        return source
      })
    },

    async redrive(webhookId) {
      assertUuid(webhookId)
      const redriven = await core.transaction(async (db) => {
        found(webhookId, (await holdRegistrations(db, [webhookId]))[0])
        return await core.queues.redrive(db, QUEUE, webhookId)
      })
      core.queues.groupsChanged(QUEUE)
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
    const parked = !(await isActive(db, webhookId))
    const { event, eventId, payload } = await find(db)
    const inline = typeof payload === 'string' ? { payload } : {}
    const data: DeliveryJob = { event, eventId, target: webhookId, deliveryId, ...inline }
    const job = { id: deliveryId, data, group: webhookId, parked }
    await core.queues.insert(db, QUEUE, [job])
  })
  core.queues.wake(QUEUE)
  return { deliveryId }
}

/** Locks the webhook as it is until the transaction ends. */
async function isActive(db: Db, webhookId: string): Promise<boolean> {
  const [held] = await holdRegistrations(db, [webhookId])
  return found(webhookId, held).active
}

/** Dead letters are kept longer than the log. */
async function findDead(
  core: Core,
  db: Db,
  webhookId: string,
  deliveryId: string,
): Promise<Source | undefined> {
  const filter = { group: webhookId, deliveryId, limit: 1 }
  const [letter] = await core.queues.deadLetters(db, QUEUE, filter)
  return letter && deliveryJobOf(letter)
}

async function assertExists(db: Db, webhookId: string): Promise<void> {
  assertUuid(webhookId)
  found(webhookId, await findRegistration(db, webhookId))
}
