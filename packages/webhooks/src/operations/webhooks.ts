/** The operations on webhooks: what routes and actions do. */
import { randomBytes } from 'node:crypto'
import { isUuid, uuidv7, type Core } from '@svc/core/internal'
import { insertLogRows } from '../tables/delivery-log.ts'
import { EventNotAllowed, UrlRefused, WebhookNotFound } from '../errors.ts'
import {
  deleteRegistration,
  findRegistration,
  insertRegistration,
  listRegistrations,
  replaceSecret,
  updateRegistration,
  type Registration,
} from '../tables/webhooks.ts'
import type {
  NewWebhook,
  RotateSecret,
  Webhook,
  WebhookChanges,
  WebhookWithSecret,
} from '../schemas.ts'
import type { Refuses } from '../outbound/http/blocked-addresses.ts'
import { whyNot } from '../outbound/http/webhook-url.ts'
import { skippedRow } from '../outbound/delivery/log-entry.ts'
import { QUEUE, SUBSCRIPTION } from '../outbound/constants.ts'
import { pause, resume } from './pause.ts'

export interface Webhooks {
  register(input: NewWebhook): Promise<WebhookWithSecret>
  list(page?: { limit?: number; after?: string }): Promise<Webhook[]>
  get(id: string): Promise<WebhookWithSecret>
  update(id: string, changes: WebhookChanges): Promise<Webhook>
  remove(id: string): Promise<void>
  rotateSecret(input: RotateSecret): Promise<WebhookWithSecret>
}

export function webhooksOf(
  core: Core,
  { allowedEvents, refuses }: { allowedEvents: string[]; refuses: Refuses },
): Webhooks {
  const { db: database } = core

  function check({ url, events }: WebhookChanges): void {
    const why = url === undefined ? null : whyNot(url, refuses)
    if (why !== null) throw new UrlRefused(why)
    const stranger = events?.find((name) => name !== '*' && !allowedEvents.includes(name))
    if (stranger === undefined) return
    throw new EventNotAllowed(stranger, ['*', ...allowedEvents].join(', '))
  }

  return {
    async register(input) {
      check(input)
      const { url, label = null } = input
      const events = [...new Set(input.events)]
      const id = uuidv7()
      return await core.transaction(async (db) => {
        const made = await insertRegistration(db, { id, url, events, label, secret: newSecret() })
        await core.fanOut.setRecipient(db, SUBSCRIPTION, id, events)
        return made
      })
    },

    async list(page) {
      return (await listRegistrations(database, page)).map(withoutSecret)
    },

    async get(id) {
      return found(id, isUuid(id) ? await findRegistration(database, id) : undefined)
    },

    async update(id, { events, ...changes }) {
      assertUuid(id)
      check({ ...changes, ...(events && { events }) })
      const { before, after } = await core.transaction(async (db) => {
        const all = events ? { ...changes, events: [...new Set(events)] } : changes
        const states = found(id, await updateRegistration(db, id, all))
        const { before, after } = states
        if (before.active && !after.active) await pause(core, db, id)
        else if (!before.active && after.active) await resume(core, db, id, after.events)
        else if (after.active) await core.fanOut.setRecipient(db, SUBSCRIPTION, id, after.events)
        // What failed at the old address says nothing about the new one.
        if (after.active && before.url !== after.url) await core.queues.release(db, QUEUE, id)
        return states
      })
      if (before.active !== after.active || before.url !== after.url) {
        core.queues.groupsChanged(QUEUE)
      }
      return withoutSecret(after)
    },

    async remove(id) {
      assertUuid(id)
      await core.transaction(async (db) => {
        if (!(await deleteRegistration(db, id))) throw new WebhookNotFound(id)
        await core.fanOut.setRecipient(db, SUBSCRIPTION, id, [])
        const dropped = await core.queues.discard(db, QUEUE, id)
        await insertLogRows(db, dropped.map(skippedRow))
      })
      core.queues.groupsChanged(QUEUE)
    },

    async rotateSecret({ id, overlapSeconds = 86_400 }) {
      assertUuid(id)
      return found(id, await replaceSecret(database, id, newSecret(), overlapSeconds))
    },
  }
}

/** The shape that Standard Webhooks gives its secrets. */
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** @throws WebhookNotFound: no webhook can have such an id */
export function assertUuid(id: string): void {
  if (!isUuid(id)) throw new WebhookNotFound(id)
}

/** @throws WebhookNotFound */
export function found<Value>(id: string, value: Value | undefined): Value {
  if (value === undefined) throw new WebhookNotFound(id)
  return value
}

const withoutSecret = ({ secret: _, ...shown }: Registration): Webhook => shown
