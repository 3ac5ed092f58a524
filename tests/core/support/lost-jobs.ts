/** The jobs of processes that died, without the time that it takes to notice. */
import type { FastifyInstance } from 'fastify'
import { until } from '../../support/until.ts'

/**
 * As if nothing had been heard for a while of the attempts under way, and a process had looked for
 * such. What makes the processes look is tested in killed.test.ts.
 */
export async function bringLostJobsBack({ svc }: FastifyInstance): Promise<void> {
  const { database } = svc
  const { rows } = await database.query(
    `select id, started_on::text as "startedOn" from svc_jobs.job where state = 'active'`,
  )
  const leases = [rows.map(({ id }) => id), rows.map(({ startedOn }) => startedOn)]
  const those = `select job.id from svc_jobs.job as job
     join unnest($1::uuid[], $2::timestamptz[]) as lease (id, started_on) on lease.id = job.id
    where job.state = 'active' and job.started_on is not distinct from lease.started_on`
  // Again where a process that lives has renewed a lease meanwhile, or settles a job just then.
  await until(async () => {
    await database.query(
      `update svc_jobs.job set heartbeat_on = heartbeat_on - interval '1 hour'
        where id = any(array(${those} for update of job skip locked))`,
      leases,
    )
    // pg-boss looks into a queue again after some seconds, whoever asks. It locks queues by name.
    await database.query(
      `with by_name as (select name from svc_jobs.queue order by name for no key update)
       update svc_jobs.queue as queue set monitor_claim_on = null, monitor_on = null
         from by_name where queue.name = by_name.name`,
    )
    await svc.jobs.supervise()
    const { rowCount } = await database.query(those, leases)
    return rowCount === 0
  })
}
