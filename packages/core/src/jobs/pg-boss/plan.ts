/** What boss.ts and jobs-table-setup.ts would run on a database, as texts: for `npx svc migrate --plan`. */
import { createHash } from 'node:crypto'
import { getConstructionPlans, getMigrationPlans } from 'pg-boss'
import { asIs } from '../../postgres/schema-names.ts'
import type { Db } from '../../postgres/transaction.ts'
import { deadLetterQueueOf } from '../job.ts'
import { DEAD_LETTER_SETTINGS, isQueue, QUEUE_SETTINGS } from './boss.ts'
import { isBossInstalled, JOBS_SCHEMA, SCHEMA_VERSION } from './boss-tables.ts'
import {
  alterDeadLetters,
  alterTable,
  areDeadLettersSetUp,
  unfinishedTableOf,
} from './jobs-table-setup.ts'

/** Sends `plan` what pg-boss would run. `known` is asked what is there. */
export async function planBoss(known: Db, plan: Db, schema = JOBS_SCHEMA): Promise<void> {
  if (!(await isBossInstalled(known))) {
    const { rows } = await known.query(`select to_regnamespace('svc_jobs') is null as is_new`)
    const { is_new: createSchema } = rows[0] as { is_new: boolean }
    await plan.query(asIs(getConstructionPlans(schema, { createSchema })))
    return
  }
  const { rows } = await known.query('select version from svc_jobs.version')
  const { version } = rows[0] as { version: number }
  if (version < SCHEMA_VERSION) await plan.query(asIs(getMigrationPlans(schema, version)))
}

/** The same for a queue with a table of its own. */
export async function planQueue(known: Db, plan: Db, queue: string): Promise<void> {
  const isInstalled = await isBossInstalled(known)
  const deadLetter = deadLetterQueueOf(queue)
  const create = async (name: string, settings: object) => {
    if (isInstalled && (await isQueue(known, name))) return
    const options = JSON.stringify({ ...settings, policy: 'standard' })
    await plan.query(`select svc_jobs.create_queue('${name}', '${options}'::jsonb)`)
  }
  await create(deadLetter, DEAD_LETTER_SETTINGS)
  await create(queue, { ...QUEUE_SETTINGS, deadLetter, partition: true })
  if (!(await areDeadLettersSetUp(known))) await alterDeadLetters(plan)
  if (!isInstalled || !(await isQueue(known, queue))) {
    // So pg-boss names the table of a queue.
    const hash = createHash('sha224').update(queue).digest('hex')
    return alterTable(plan, { name: `${JOBS_SCHEMA}.j${hash}`, isNew: true })
  }
  const table = await unfinishedTableOf(known, queue)
  if (table !== undefined) await alterTable(plan, table)
}
