/** Probes webhooks that are disabled as failing: one waiting delivery is attempted. */
import type { Core } from '@svc/core/internal'
import { postponeProbes, PORTION, takeProbes } from '../../tables/webhook-health.ts'
import { QUEUE } from '../constants.ts'
import { waitingOf } from '../waiting-deliveries.ts'

type Parts = Pick<Core, 'db' | 'queues'>

/** What a probe may take besides its attempt. */
const PROBE_MARGIN_SECONDS = 5

/**
 * When a probe is due again if a delivery waits but its attempt could not begin. Either another
 * transaction has locked the job, for example to park it, or this process has no free slot.
 */
const PROBE_AGAIN_SECONDS = 0.5

/** The others are left to the next check, of this process or of another one. */
const MOST_PORTIONS = 20

/** Begins the probes that are due. A probe that succeeds resumes its webhook, see resume-failing.ts. */
export async function probeDue(
  parts: Parts,
  probeEverySeconds: number,
  deliveryTimeoutMs: number,
): Promise<void> {
  // No second probe begins while one may be under way, in whichever process.
  const leaseSeconds = Math.max(probeEverySeconds, deliveryTimeoutMs / 1000 + PROBE_MARGIN_SECONDS)
  for (let portions = 0; portions < MOST_PORTIONS; portions++) {
    const ids = await takeProbes(parts.db, probeEverySeconds, leaseSeconds)
    await probeAll(parts, ids, probeEverySeconds)
    if (ids.length < PORTION) return
  }
}

async function probeAll(
  { db, queues }: Parts,
  ids: string[],
  probeEverySeconds: number,
): Promise<void> {
  const left: string[] = []
  for (const id of ids) if (!(await queues.probe(QUEUE, id))) left.push(id)
  if (left.length === 0) return
  const waiting = await waitingOf({ queues }, db, left, 1)
  const isWaiting = (id: string): boolean => (waiting.get(id) ?? 0) > 0
  await postponeProbes(db, left.filter(isWaiting), PROBE_AGAIN_SECONDS)
  await postponeProbes(
    db,
    left.filter((id) => !isWaiting(id)),
    probeEverySeconds,
  )
}
