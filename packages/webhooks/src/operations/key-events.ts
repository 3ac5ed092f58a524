/**
 * Events about API keys, `svc.key.…`, tell what only callers who may read keys may know: others
 * cannot have them sent to a webhook, and do not see them among deliveries.
 */
import { KEY_EVENTS } from '@svc/core/internal'
import { KeyEventsNotAllowed } from '../errors.ts'
import type { Webhook } from '../schemas.ts'
import type { ChangedColumns } from '../tables/webhooks.ts'
import { READS_KEYS, type Caller } from './caller.ts'

type Seeing = Pick<Caller, 'seesKeyEvents'>

/** What the names of events begin with that lists leave out for the caller. */
export const hiddenFrom = ({ seesKeyEvents }: Seeing): { except?: string } =>
  seesKeyEvents ? {} : { except: KEY_EVENTS }

export const mayReceive = ({ seesKeyEvents }: Seeing, events: readonly string[]): boolean =>
  seesKeyEvents || !events.some((name) => isKeyEvent(name))

/** @throws KeyEventsNotAllowed */
export function assertMayReceive(by: Seeing, events: readonly string[]): void {
  if (!mayReceive(by, events)) throw new KeyEventsNotAllowed(READS_KEYS)
}

/**
 * What waits for a webhook would go to its new address, also of events that it no longer asks for. By a
 * filter of its choice, and by what then comes of the deliveries, a caller would find out their payloads.
 *
 * @throws KeyEventsNotAllowed
 */
export function assertMayAim(
  caller: Seeing,
  { url, events, filter }: Pick<ChangedColumns, 'url' | 'events' | 'filter'>,
  before: { events: readonly string[] },
): void {
  if ([url, events, filter].some((field) => field !== undefined)) {
    assertMayReceive(caller, before.events)
  }
}

/** A webhook as the caller sees it: without what comes of deliveries that are hidden from it. */
export function shownTo<Shown extends Webhook>({ seesKeyEvents }: Seeing, webhook: Shown): Shown {
  if (seesKeyEvents || !webhook.events.some((name) => isKeyEvent(name))) return webhook
  return { ...webhook, lastSuccessAt: null, failingSince: null, waiting: 0 }
}

/** Whether a delivery does not exist for the caller. */
export const isHidden = ({ seesKeyEvents }: Seeing, event: string): boolean =>
  !seesKeyEvents && isKeyEvent(event)

const isKeyEvent = (name: string): boolean => name.startsWith(KEY_EVENTS)
