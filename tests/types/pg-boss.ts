// `svc.jobs` is typed by an interface of core's own: pg-boss's class must offer all of it.
// Checked by `tsc`, never run.
import type { Jobs } from '@svc/core'
import type { PgBoss } from 'pg-boss'

declare const started: PgBoss
const jobs: Jobs = started
const boss = jobs as PgBoss

export { boss }
