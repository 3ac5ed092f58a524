/**
 * Events about API keys, `svc.key.…`, tell what only callers who may read keys may know: others
 * cannot have them sent to a webhook, and do not see them among deliveries.
 */
import { KEY_EVENTS } from '@svc/core/internal'
import { KeyEventsNotAllowed } from '../errors.ts'
import { READS_KEYS, type Caller } from './caller.ts'

type Seeing = Pick<Caller, 'seesKeyEvents'>

/** What the names of events begin with that lists leave out for the caller. */
export const hiddenFrom = ({ seesKeyEvents }: Seeing): { except?: string } =>
  seesKeyEvents ? {} : { except: KEY_EVENTS }

/** @throws KeyEventsNotAllowed */
export function assertMayReceive({ seesKeyEvents }: Seeing, events: readonly string[]): void {
  if (seesKeyEvents || !events.some((name) => name.startsWith(KEY_EVENTS))) return
  throw new KeyEventsNotAllowed(READS_KEYS)
}

/**
 * What waits for a webhook would go to its new address, also of events that it no longer asks for.
 *
 * @throws KeyEventsNotAllowed
 */
export function assertMayAim(
  caller: Seeing,
  { url, events }: { url?: string; events?: readonly string[] },
  before: { events: readonly string[] },
): void {
  if (url !== undefined || events !== undefined) assertMayReceive(caller, before.events)
}
