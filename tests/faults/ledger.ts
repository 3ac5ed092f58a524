/** What the world outside was promised, what it saw, and which promise was broken. Pure. */

export interface Ledger {
  /** Ids of events whose publish was acknowledged, in one transaction with an order or alone. */
  published: Set<string>
  /** Ids of requests of the sender that were answered with 200. */
  accepted: Set<string>
  /** By id of the event: the ids of its deliveries, for each time that one came. */
  delivered: Map<string, string[]>
  /** Deliveries whose signature did not verify. */
  forged: number
  /** Requests with the key of a quota that were admitted. */
  admitted: number
  /** Requests with a revoked key that were admitted, more than a second after the revocation. */
  admittedRevoked: number
}

export const newLedger = (): Ledger => ({
  published: new Set(),
  accepted: new Set(),
  delivered: new Map(),
  forged: 0,
  admitted: 0,
  admittedRevoked: 0,
})

/** A row of what the subscriptions handled. */
export interface Handled {
  name: string
  event_id: string
  payload_id: string
}

/** What Postgres holds when all is quiet again. */
export interface Afterwards {
  handled: Handled[]
  /** Orders whose transaction committed, acknowledged or not. */
  orders: string[]
  /** Jobs that are neither done nor dead. */
  waiting: number
  deadLetters: number
  quota: number
}

/** What is still awaited after the storm. */
export function missing(ledger: Ledger, { handled }: Pick<Afterwards, 'handled'>): string[] {
  const handledIds = new Set(handled.map(({ payload_id }) => payload_id))
  const lacks: string[] = []
  for (const id of ledger.published) {
    if (!ledger.delivered.has(id)) lacks.push(`${id} was published and not delivered`)
    if (!handledIds.has(id)) lacks.push(`${id} was published and not handled`)
  }
  for (const id of ledger.accepted) {
    if (!handledIds.has(id)) lacks.push(`${id} was accepted from the sender and not handled`)
  }
  return lacks
}

/** The promises that were broken, once nothing is awaited any more. */
export function violations(ledger: Ledger, afterwards: Afterwards): string[] {
  const found = missing(ledger, afterwards)
  for (const [id, deliveries] of ledger.delivered) {
    const ids = new Set(deliveries)
    if (ids.size > 1) found.push(`${id} was delivered as ${ids.size} deliveries: ${[...ids]}`)
  }
  const orders = new Set(afterwards.orders)
  for (const id of ledger.delivered.keys()) {
    if (id.startsWith('order-') && !orders.has(id)) {
      found.push(`${id} was delivered, and its transaction was rolled back`)
    }
  }
  for (const id of orders) {
    if (!ledger.delivered.has(id)) found.push(`${id} was committed and not delivered`)
  }
  const inbound = Map.groupBy(
    afterwards.handled.filter(({ name }) => name === 'sender.sent'),
    ({ payload_id }) => payload_id,
  )
  for (const [id, rows] of inbound) {
    if (rows.length > 1) found.push(`${id} of the sender became ${rows.length} events`)
  }
  if (ledger.forged > 0) found.push(`${ledger.forged} deliveries had a signature that is wrong`)
  if (ledger.admitted > afterwards.quota) {
    found.push(`${ledger.admitted} requests passed a quota of ${afterwards.quota}`)
  }
  if (ledger.admittedRevoked > 0) {
    found.push(`${ledger.admittedRevoked} requests with a revoked key were admitted`)
  }
  if (afterwards.waiting > 0) found.push(`${afterwards.waiting} jobs wait, and nothing is awaited`)
  if (afterwards.deadLetters > 0) found.push(`${afterwards.deadLetters} dead letters`)
  return found
}
