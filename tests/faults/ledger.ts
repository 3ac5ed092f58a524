/** What the world outside was promised, and what it saw. */

export type WebhookName = 'plain' | 'ordered' | 'rated' | 'capped'

/** A request of a host to the receiver. Times are those of the receiver's own clock, in ms. */
export interface Attempt {
  webhook: WebhookName
  /** The `id` in the payload. */
  event: string
  deliveryId: string
  from: number
  until: number
  /** `answered`: with 200. `refused`: with an error. `dropped`: the host has closed the connection. */
  end: 'answered' | 'refused' | 'dropped'
}

export interface Span {
  from: number
  until: number
}

/**
 * While it lasts, clocks say little, Postgres may forget what it has allotted, a host that is taken
 * for dead may still be at work, a host of an older version does not know all limits, or there is no room for a row of
 * the log.
 */
export interface Disturbance extends Span {
  kind: 'crash' | 'freeze' | 'stall' | 'partition' | 'older version' | 'disk full'
}

/** How a host went on after the primary of its cluster had moved, since the first commit of the next one. */
export interface Move {
  kind: string
  host: number
  publishedMs: number
  deliveredMs: number
}

export interface Ledger {
  /** Names the schedule in the ids of its events: hosts outlive it. */
  seed: number
  /** Ids of events whose publish was acknowledged, in one transaction with an order or alone. */
  published: Set<string>
  /**
   * Events of the limited webhooks, each sent after the one before was acknowledged or given up.
   */
  steps: string[]
  /** Ids of requests that the sender has sent. */
  sent: Set<string>
  /** The ids of requests that were answered with 200. */
  accepted: Set<string>
  attempts: Attempt[]
  /** Deliveries whose signature did not verify, or whose headers have another id than the body. */
  forged: number
  /** Requests with the key of a quota that were admitted. */
  admitted: number
  /** Requests with the key of a limit that were admitted: from when they were sent to the answer. */
  limited: Span[]
  /** Keys whose revocation was acknowledged. */
  revoked: string[]
  /** Revoked keys that were admitted more than a second after the revocation. */
  admittedRevoked: Set<string>
  /** How many hosts admit them in the end, and how many were asked. */
  admittedBy: Map<string, number>
  hosts: number
  disturbances: Disturbance[]
  /** Whether Postgres may lose commits: a cluster with asynchronous replication. */
  isLossy: boolean
  /** How many of the events that were acknowledged it has lost. */
  lost: number
  moves: Move[]
  /** From a fault of a cluster to the first commit after it. */
  away: { kind: string; ms: number }[]
  /** What publishes were refused with. */
  refusals: Map<string, number>
}

export const newLedger = (seed: number, isLossy = false): Ledger => ({
  seed,
  published: new Set(),
  steps: [],
  sent: new Set(),
  accepted: new Set(),
  attempts: [],
  forged: 0,
  admitted: 0,
  limited: [],
  revoked: [],
  admittedRevoked: new Set(),
  admittedBy: new Map(),
  hosts: 0,
  disturbances: [],
  isLossy,
  lost: 0,
  moves: [],
  away: [],
  refusals: new Map(),
})

type IdKind = 'event' | 'order' | 'step' | 'sent'

/** The id of something that is asked for in the schedule of a seed. */
export const idOf = (kind: IdKind, seed: number, count: number): string =>
  `${kind}-${seed}-${count}`

/** What the ids of a kind begin with, in the schedule of a seed. */
export const idsOf = (kind: IdKind, seed: number): string => `${kind}-${seed}-`

/** A row of what the subscriptions handled. */
export interface Handled {
  subscription: string
  name: string
  event_id: string
  payload_id: string
}

/** Attempts of one webhook with one outcome: how many the log has, and how many the statistics. */
export interface Counted {
  webhook: string
  status: string
  logged: number
  counted: number
}

/** What Postgres holds when all is quiet again. */
export interface Afterwards {
  handled: Handled[]
  /** The ids in the payloads of the events that are stored. */
  stored: string[]
  /** Orders whose transaction committed, acknowledged or not. */
  orders: string[]
  /** Jobs that are neither done nor dead. */
  waiting: number
  deadLetters: number
  /** The ids of the deliveries of which the log says that they were delivered. */
  logged: string[]
  statistics: Counted[]
}

/** What was asked of the hosts. */
export const LIMITS = {
  /** Requests with one key, for ever. */
  quota: 25,
  /** Requests with one key; up to ten, the bound is the limit itself. */
  key: { limit: 8, perSeconds: 2 },
  /** Attempts of the webhook `rated`. */
  rated: { limit: 10, perSeconds: 3 },
  /** Attempts of the webhook `capped` at a time. */
  capped: 2,
} as const

/** From the first commit of the next primary on. */
export const GOES_ON_WITHIN_MS = 10_000
