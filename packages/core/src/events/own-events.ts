/**
 * The events that our packages publish. A webhook gets those that it names; "*" matches only the
 * events of the host.
 */
export const OWN_EVENTS: readonly string[] = [
  'svc.delivery.dead',
  'svc.key.created',
  'svc.key.expired',
  'svc.key.expiring',
  'svc.key.leaked',
  'svc.key.revoked',
  'svc.key.rotated',
  'svc.key.unused',
  'svc.webhook.disabled',
  'svc.webhook.failing',
  'svc.webhook.recovered',
]

/**
 * What the names of events about API keys begin with. Their payloads describe keys: a caller that
 * may not read keys may neither see these events nor have them sent.
 */
export const KEY_EVENTS = 'svc.key.'

/** Names that no event of a host has. */
export const isReservedName = (name: string): boolean => name.startsWith('svc.')
