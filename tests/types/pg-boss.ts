// `svc.jobs` is typed by an interface of core's own: it must offer what pg-boss's class offers.
// Checked by `tsc`, never run.
import type { Jobs } from '@svc/core'
import type { PgBoss } from 'pg-boss'

declare const started: PgBoss
const jobs: Jobs = started
const boss = jobs as PgBoss

type Missing = Exclude<keyof PgBoss, keyof Jobs>
const missing: [Missing] extends [never] ? true : Missing = true

export { boss, missing }
