import t from 'tap'
import { startGround } from './ground.ts'
import { scheduleOf, type Fault } from './schedule.ts'
import { storm } from './storm.ts'

/** `SVC_FAULT_SCHEDULES` says how many storms there are, `SVC_FAULT_SEED` begins with another one. */
const { SVC_FAULT_SCHEDULES = '1', SVC_FAULT_SEED = '1' } = process.env
const HOSTS = 2
const FAULTS = 6

const textOf = ({ kind, ...details }: Fault): string =>
  [kind, ...Object.entries(details).map(([name, value]) => `${name} ${value}`)].join(' ')

const ground = await startGround(t)
for (let index = 0; index < Number(SVC_FAULT_SCHEDULES); index++) {
  const seed = Number(SVC_FAULT_SEED) + index
  t.test(`nothing that was acknowledged is lost in the storm of seed ${seed}`, async (t) => {
    const schedule = scheduleOf(seed, FAULTS, HOSTS)
    t.comment(schedule.map(textOf).join(', '))
    const database = await ground.database(t)
    const { violations, ledger, complaints } = await storm(t, database, HOSTS, schedule)
    const { published, steps, accepted, attempts, limited } = ledger
    t.comment(
      `${published.size} publishes, ${steps.length} steps, ${accepted.size} inbound requests,`,
      `${attempts.length} attempts and ${limited.length} requests with a limit counted`,
    )
    t.strictSame(violations, [], 'every promise holds')
    t.strictSame(complaints, [], 'no host ended by itself')
  })
}
