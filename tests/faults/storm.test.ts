// promise: While processes are killed and frozen, clocks are wrong and Postgres crashes, no acknowledged event is lost, no delivery has a wrong signature, no event becomes two deliveries, and none is delivered whose transaction was rolled back
// promise: In the same runs order, rates, caps, limits and quotas hold, revoked keys stay refused, and statistics equal the log; some faults are left out of single checks
import { appendFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { olderFolder, withoutCommit } from '../support/older-packages.ts'
import type { Report } from './run-schedule.ts'
import { textOf } from './schedule.ts'
import { startStorm, type Storm } from './storm.ts'

/**
 * `SVC_FAULT_SCHEDULES` says how many schedules there are, `SVC_FAULT_SEED` begins with another one,
 * `SVC_FAULT_STORMS` runs so many storms side by side, `SVC_FAULT_LOG` names a file that gets a line
 * for each schedule.
 */
const { SVC_FAULT_SCHEDULES = '1', SVC_FAULT_SEED = '1', SVC_FAULT_LOG } = process.env
const SCHEDULES = Number(SVC_FAULT_SCHEDULES)
/** Most of its time a storm waits: for the ends of faults and of leases. */
const STORMS = Number(process.env['SVC_FAULT_STORMS'] ?? Math.min(8, SCHEDULES))
/** Then another storm begins, with an empty database. */
const SCHEDULES_OF_A_STORM = 50
const LONGEST_LINE = 3000

/** The first release. */
const OLDER = 'v0.1.0'
const FILES = ['host-process.ts', 'host-options.ts', 'stalls.ts']

async function olderHost(): Promise<string | null> {
  const lack = await withoutCommit(OLDER)
  if (lack) t.comment(`instead of an older version the same one boots: ${lack}`)
  if (lack) return null
  const texts = FILES.map(async (name) => [
    name,
    await readFile(join(import.meta.dirname, name), 'utf8'),
  ])
  return olderFolder(t, OLDER, Object.fromEntries(await Promise.all(texts)))
}

const older = await olderHost()
const idle: { storm: Storm; age: number }[] = []
t.teardown(() => Promise.all(idle.map(({ storm }) => storm.end())))

async function run(seed: number): Promise<Report> {
  const { storm, age } = idle.pop() ?? { storm: await startStorm(older), age: 1 }
  const report = await storm.run(seed)
  // What a broken promise has left would count against the schedules that follow.
  const isSpent = report.violations.length > 0 || age === SCHEDULES_OF_A_STORM
  if (isSpent) await storm.end()
  else idle.push({ storm, age: age + 1 })
  return report
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1)

t.jobs = STORMS
for (let seed = Number(SVC_FAULT_SEED); seed < Number(SVC_FAULT_SEED) + SCHEDULES; seed++) {
  void t.test(
    `nothing that was acknowledged is lost in the schedule of seed ${seed}`,
    async (t) => {
      const { steps, violations, counts, stormMs, settledMs } = await run(seed)
      const took = `${seconds(stormMs)} s, and quiet after ${seconds(settledMs)} s`
      t.comment(textOf(steps))
      t.comment(`${took}: ${counts}`)
      const verdict = violations.length === 0 ? 'ok' : `failed: ${violations.join('; ')}`
      if (SVC_FAULT_LOG) {
        const line = [seed, textOf(steps), took, verdict].join(' | ').replaceAll(/\s+/g, ' ')
        appendFileSync(SVC_FAULT_LOG, `${line.slice(0, LONGEST_LINE)}\n`)
      }
      t.strictSame(violations, [], 'every promise holds')
    },
  )
}
