import type { Core } from '@svc/core/kit'
import { findLoggedAttempts, insertLogRows, takeLogTurn } from '../delivery-log.ts'
import { lostRow } from './log-rows.ts'
import { QUEUE } from './names.ts'

/** As many of the newest dead letters are looked at; far more than die by a killed process at once. */
const LOOKED_AT = 1000

/**
 * Writes the rows that nobody was there to write: of deliveries whose last attempt ended with its
 * process, and which went to the dead letters when its time was up.
 */
export async function recordLost(core: Core): Promise<void> {
  await core.transaction(async (db) => {
    await takeLogTurn(db)
    const letters = await core.queues.deadLetters(QUEUE, { limit: LOOKED_AT }, db)
    const rows = letters.filter(({ output }) => output === undefined).map(lostRow)
    if (rows.length === 0) return
    const logged = await findLoggedAttempts(
      db,
      rows.map(({ deliveryId }) => deliveryId),
    )
    const known = new Set(logged.map(({ deliveryId, attempt }) => `${deliveryId} ${attempt}`))
    await insertLogRows(
      db,
      rows.filter(({ deliveryId, attempt }) => !known.has(`${deliveryId} ${attempt}`)),
    )
  })
}
