/** Which events a session may see, and what it may find out about payloads that are masked. */
import { Forbidden } from '../errors.ts'
import type { Identity } from './identity.ts'

type Rights = Pick<Identity, 'rights'>

/** Whether the host masks anything. */
interface Masking {
  areOn: boolean
}

/**
 * The prefix of the names of events about API keys. Their payloads have the fields of `keys.get`.
 */
const KEY_EVENTS = 'svc.key.'

const seesKeys = ({ rights }: Rights): boolean => rights.includes('keys:read')

/** What the names of hidden events begin with. */
export const hiddenPrefix = (identity: Rights): string | undefined =>
  seesKeys(identity) ? undefined : KEY_EVENTS

export const maySeeEvent = (identity: Rights, name: string): boolean =>
  seesKeys(identity) || !name.startsWith(KEY_EVENTS)

/**
 * A webhook is sent the payloads of its events. The operation refuses what is no list of names.
 *
 * @throws Forbidden
 */
export function assertMayReceive(identity: Rights, names: unknown): void {
  const all: unknown[] = Array.isArray(names) ? names : []
  const isHidden = all.some((name) => typeof name === 'string' && !maySeeEvent(identity, name))
  if (isHidden) throw new Forbidden('keys:read')
}

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
