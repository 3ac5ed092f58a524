/** Checks of what a host gives to `svc.events`. */
import {
  InvalidEventId,
  InvalidEventName,
  InvalidOption,
  InvalidPayload,
  InvalidSubscription,
  NoTransaction,
  ReservedEventName,
} from '../errors.ts'
import { uuidv7 } from '../ids.ts'
import {
  isBoolean,
  isFunction,
  isIntegerFrom,
  isPlainObject,
  isStorableText,
  kindOf,
  resolveOptions,
  type ResolvedOptions,
} from '../options/check-options.ts'
import { BEGIN } from '../postgres/db.ts'
import { isTenant, TENANT } from '../tenants/tenants.ts'
import { isReservedName } from './own-events.ts'
import type { PublishOptions, SubscribeOptions } from './event-api.ts'
import { storedEventId } from './event-id.ts'
import type { EventRow } from './events-table.ts'

const EVENT_NAME = /^[A-Za-z0-9_.\-/]{1,200}$/

export const isEventName = (name: unknown): name is string =>
  typeof name === 'string' && EVENT_NAME.test(name)

const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : kindOf(value)

/** @throws InvalidEventName */
export function checkedEventName(name: unknown): string {
  if (isEventName(name)) return name
  throw new InvalidEventName(
    typeof name === 'string' ? JSON.stringify(name.slice(0, 210)) : kindOf(name),
  )
}

/**
 * Of a host, which can subscribe to our events and not publish them.
 *
 * @throws InvalidEventName, ReservedEventName
 */
export function checkedHostEventName(name: unknown): string {
  const checked = checkedEventName(name)
  if (isReservedName(checked)) throw new ReservedEventName(checked)
  return checked
}

/** @throws InvalidEventId */
function checkedEventId(id: unknown): string {
  if (id === undefined) return uuidv7()
  if (isStorableText(id, 255)) return id
  throw new InvalidEventId(
    typeof id === 'string' ? `a string of ${id.length} characters` : kindOf(id),
  )
}

/** @throws InvalidEventName, InvalidEventId */
export const checkedEventRow = (
  name: string,
  id: unknown,
  tenant: string | null,
  payload: string,
): EventRow => ({
  name: checkedEventName(name),
  id: storedEventId(tenant, checkedEventId(id)),
  payload,
})

/**
 * Unknown options are errors: a misspelt `id` would lose idempotency. `db: null` is an error too: it
 * usually means that the transaction was never begun.
 *
 * @throws InvalidOption, NoTransaction
 */
export function checkedPublishOptions(options: PublishOptions): PublishOptions {
  if (!isPlainObject(options)) {
    throw new InvalidOption(`events.publish: the options must be an object, got ${kindOf(options)}`)
  }
  if (options.db === null) throw new NoTransaction('events.publish', 'null', BEGIN)
  for (const name in options) {
    if (!['id', 'db', 'tenant', 'before'].includes(name)) {
      throw new InvalidOption(
        `events.publish: there is no option "${name}"; there are: id, db, tenant, before`,
      )
    }
  }
  const { tenant = null } = options
  if (tenant !== null && !isTenant(tenant)) {
    throw new InvalidOption(
      `events.publish: the option "tenant" must be ${TENANT}, got ${shown(tenant)}`,
    )
  }
  return options
}

/** @throws InvalidPayload */
export function payloadText(payload: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (error) {
    throw new InvalidPayload((error as Error).message)
  }
  if (text === undefined) throw new InvalidPayload(`got ${kindOf(payload)}`)
  return text
}

/** A job expires a quarter of a minute after its attempt, and within the day that pg-boss allows. */
const LONGEST_TIMEOUT_SECONDS = 24 * 3600 - 15

export type ResolvedSubscribeOptions = ResolvedOptions<SubscribeOptions>

/** @throws InvalidEventName, InvalidSubscription, InvalidOption */
export function resolveSubscribeOptions(
  name: unknown,
  handler: unknown,
  options: SubscribeOptions = {},
): ResolvedSubscribeOptions {
  const eventName = checkedEventName(name)
  if (!isFunction(handler)) {
    throw new InvalidSubscription(
      `events.subscribe: the handler of "${eventName}" must be a function, got ${kindOf(handler)}`,
    )
  }
  const settled = resolveOptions<ResolvedSubscribeOptions>(
    'events.subscribe',
    {
      subscription: { expects: SUBSCRIPTION_NAME, is: isEventName, default: eventName },
      idempotent: { expects: 'true or false', is: isBoolean, default: true },
      timeoutSeconds: {
        expects: `an integer from 1 to ${LONGEST_TIMEOUT_SECONDS} (seconds)`,
        is: isIntegerFrom(1, LONGEST_TIMEOUT_SECONDS),
        default: 300,
      },
      concurrency: {
        expects: 'an integer from 1 to 10000',
        is: isIntegerFrom(1, 10_000),
        default: 10,
      },
    },
    options,
  )
  checkedSubscriptionName(settled.subscription)
  return settled
}

/** @throws InvalidSubscription */
export function checkedSubscriptionName(name: unknown): void {
  // Its queue would be the dead-letter queue of another, or its rows those of a plugin of ours.
  if (isEventName(name) && !name.endsWith('.dlq') && !name.startsWith('__svc.')) return
  throw new InvalidSubscription(
    `a subscription must have ${SUBSCRIPTION_NAME}, got ${typeof name === 'string' ? JSON.stringify(name) : kindOf(name)}: give it one with the option "subscription"`,
  )
}

const SUBSCRIPTION_NAME =
  'a name of 1 to 200 letters, digits, "_", ".", "-" or "/" that does not end in ".dlq" or begin with "__svc."'
