/** Which events a session may see, and what it may find out about payloads that are masked. */
import { KEY_EVENTS } from '@svc/core/internal'
import { Forbidden } from '../errors.ts'
import type { Identity } from './identity.ts'

type Rights = Pick<Identity, 'rights'>

/** Whether the host masks anything. */
interface Masking {
  areOn: boolean
}

/** The payloads of events about API keys say what `keys.get` says. */
export const SEES_KEY_EVENTS = 'keys:read'

export const seesKeyEvents = ({ rights }: Rights): boolean => rights.includes(SEES_KEY_EVENTS)

/** What the names of hidden events begin with. */
export const hiddenPrefix = (identity: Rights): string | undefined =>
  seesKeyEvents(identity) ? undefined : KEY_EVENTS

export const maySeeEvent = (identity: Rights, name: string): boolean =>
  seesKeyEvents(identity) || !name.startsWith(KEY_EVENTS)

/**
 * A search or a filter can reveal masked values step by step. A session that may create webhooks
 * gets them anyway.
 */
export const mayProbePayloads = ({ rights }: Rights, { areOn }: Masking): boolean =>
  !areOn || rights.includes('webhooks:write')

/** @throws Forbidden */
export function assertMayProbePayloads(identity: Rights, masks: Masking): void {
  if (!mayProbePayloads(identity, masks)) throw new Forbidden('webhooks:write')
}
