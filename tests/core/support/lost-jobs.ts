/** The jobs of processes that died, without the time that it takes to notice. */
import type { FastifyInstance } from 'fastify'

/**
 * As if nothing had been heard for a while of the attempts under way, and a process had looked for
 * such. What makes the processes look is tested in killed.test.ts.
 */
export async function bringLostJobsBack({ svc }: FastifyInstance): Promise<void> {
  await svc.database.query(
    `update svc_jobs.job set heartbeat_on = heartbeat_on - interval '1 hour' where state = 'active'`,
  )
  // pg-boss looks into a queue again after some seconds, whoever asks.
  await svc.database.query('update svc_jobs.queue set monitor_claim_on = null, monitor_on = null')
  await svc.jobs.supervise()
}
