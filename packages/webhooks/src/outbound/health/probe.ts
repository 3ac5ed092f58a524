/** Probes webhooks that are disabled as failing: one waiting delivery is attempted. */
import type { Core } from '@svc/core/internal'
import { postponeProbe, takeProbes } from '../../tables/webhook-health.ts'
import { QUEUE } from '../constants.ts'
import { waitingOf } from '../waiting-deliveries.ts'

/** What a probe may take besides its attempt. */
const PROBE_MARGIN_SECONDS = 5

/**
 * When a probe is due again if a delivery waits but its attempt could not begin. Either another
 * transaction has locked the job, for example to park it, or this process has no free slot.
 */
const PROBE_AGAIN_SECONDS = 0.5

/** Begins the probes that are due. A probe that succeeds resumes its webhook, see health-recorder.ts. */
export async function probeDue(
  { db, queues }: Pick<Core, 'db' | 'queues'>,
  probeEverySeconds: number,
  deliveryTimeoutMs: number,
): Promise<void> {
  // No second probe begins while one may be under way, in whichever process.
  const leaseSeconds = Math.max(probeEverySeconds, deliveryTimeoutMs / 1000 + PROBE_MARGIN_SECONDS)
  for (const id of await takeProbes(db, probeEverySeconds, leaseSeconds)) {
    if (await queues.probe(QUEUE, id)) continue
    const isWaiting = (await waitingOf({ queues }, db, [id], 1)).has(id)
    await postponeProbe(db, id, isWaiting ? PROBE_AGAIN_SECONDS : probeEverySeconds)
  }
}
