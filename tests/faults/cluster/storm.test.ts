// promise: When the primary of a cluster is killed, hangs, is cut off, hands over or has a full disk, publishing and delivering go on within 10 s of the next one's first commit; with synchronous replication nothing acknowledged is lost and nothing rolled back is delivered
/**
 * Postgres servers under Patroni: with a list of hosts, behind HAProxy, and behind PgBouncer before that.
 * The ledger of the storm judges. Odd seeds replicate synchronously to two standbys, even ones asynchronously to one.
 */
import t from 'tap'
import { textOf } from '../schedule.ts'
import { startStorm } from '../storm.ts'
import { withoutCluster } from './cluster.ts'
import { startPlace } from './place.ts'

/** A schedule of all faults takes two minutes: the short form has three, the long one fewer schedules than on one server. */
const { SVC_FAULT_SCHEDULES = '1', SVC_FAULT_SEED = '1' } = process.env
const SEED = Number(SVC_FAULT_SEED)
const SCHEDULES = Math.ceil(Number(SVC_FAULT_SCHEDULES) / 10)
const FAULTS = SVC_FAULT_SCHEDULES === '1' ? 3 : 5

for (let seed = SEED; seed < SEED + SCHEDULES; seed++) {
  const isSynchronous = seed % 2 === 1
  const title = isSynchronous
    ? `nothing that was acknowledged is lost when the primary moves, seed ${seed}`
    : `what the next primary has is kept when commits are lost, seed ${seed}`
  t.test(title, { skip: withoutCluster }, async (t) => {
    const began = performance.now()
    const storm = await startStorm(null, (owner) => startPlace(owner, isSynchronous, FAULTS))
    t.teardown(() => storm.end())
    t.comment(`started within ${Math.round((performance.now() - began) / 1000)} s`)
    const { steps, violations, counts, stormMs, settledMs } = await storm.run(seed)
    t.comment(textOf(steps))
    t.comment(`${Math.round(stormMs)} ms, quiet after ${Math.round(settledMs)} ms: ${counts}`)
    t.strictSame(violations, [], 'every promise holds')
  })
}
