import type { FanOutJob } from '@svc/core/internal'
import t from 'tap'
import { workPortion } from '../../../../packages/core/src/jobs/recipients/work-portion.ts'
import { insertWork, lockWork } from '../../../../packages/core/src/jobs/recipients/work-table.ts'
import type { DeadLetterSelection } from '../../../../packages/core/src/jobs/pg-boss/dead-letters.ts'
import { redriveDeadLetters } from '../../../../packages/core/src/jobs/pg-boss/redrive-dead-letters.ts'
import { retrySettingsOf } from '../../../../packages/core/src/jobs/retry-settings.ts'
import { until } from '../../../support/until.ts'
import { RECIPIENT, QUEUE } from '../../support/worker.ts'
import { startHost } from '../../support/host.ts'
import { namesOf, startWorkedHost, type WorkedHost } from '../../support/worked-host.ts'

/**
 * Waits for the one dead letter of the queue, and makes `count` of it, each of an event of its own.
 */
async function multiply({ core, queues }: WorkedHost, count: number): Promise<void> {
  await until(
    () => queues.deadLetters(core.db, QUEUE, {}),
    ({ length }) => length === 1,
  )
  const { rowCount } = await core.db.query(
    `insert into svc_jobs.job
     select (jsonb_populate_record(letter, jsonb_build_object(
              'id', overlay(letter.id::text placing lpad(n::text, 12, '0') from 25),
              'data', letter.data || jsonb_build_object('eventId', n::text)))).*
       from svc_jobs.job as letter, generate_series(1, $2::int) as n
      where letter.name = $1`,
    [`${QUEUE}.dlq`, count - 1],
  )
  if (rowCount !== count - 1) throw new Error(`${rowCount} letters were made`)
}

t.test(
  'a thousand dead letters are redriven in the background, and no longer listed',
  async (t) => {
    let isDying = true
    const host = await startWorkedHost(t, { isDying: () => isDying })
    const { worker, core, queues } = host
    const count = 1300
    await worker.insert(['0'], RECIPIENT)
    await multiply(host, count)
    isDying = false
    await core.transaction(async (db) => {
      t.equal(await queues.redrive(db, QUEUE, RECIPIENT), count)
      t.strictSame(await queues.deadLetters(db, QUEUE, { recipient: RECIPIENT }), [])
      t.equal(await queues.redrive(db, QUEUE, RECIPIENT), 0, 'they are counted once')
    })
    queues.recipientsChanged(QUEUE)
    const done = () => worker.settled.filter(({ result }) => result === 'completed')
    await until(() => done().length === count)
    t.equal(new Set(done().map(({ job }) => job.data.eventId)).size, count)
    t.ok(done().every(({ job }) => job.data.attemptsBefore === 1))
  },
)

t.test('a page of dead letters may begin after a letter that was deleted', async (t) => {
  const { worker, core, queues } = await startWorkedHost(t, { isDying: () => true })
  for (const name of ['a', 'b', 'c']) {
    await worker.insert([name], RECIPIENT)
    await until(
      () => queues.deadLetters<FanOutJob>(core.db, QUEUE, { recipient: RECIPIENT }),
      (letters) => namesOf(letters).includes(name),
    )
  }
  const [newest] = await queues.deadLetters(core.db, QUEUE, { recipient: RECIPIENT, limit: 1 })
  const after = newest?.id ?? ''
  const ids = [after]
  await core.transaction((db) => queues.redrive(db, QUEUE, RECIPIENT, ids))
  t.strictSame(
    (await queues.deadLetters<FanOutJob>(core.db, QUEUE, { recipient: RECIPIENT, after })).map(
      ({ data }) => data.eventId,
    ),
    ['b', 'a'],
  )
})

t.test('two redrives at once answer with what each of them has moved', async (t) => {
  let isDying = true
  const host = await startWorkedHost(t, { isDying: () => isDying })
  const { worker, core, queues } = host
  const count = 1200
  await worker.insert(['0'], RECIPIENT)
  await multiply(host, count)
  // Those that the first one has moved would become dead letters again.
  isDying = false
  const counts = await Promise.all(
    [1, 2].map(() => core.transaction((db) => queues.redrive(db, QUEUE, RECIPIENT))),
  )
  t.strictSame(
    counts.toSorted((a, b) => a - b),
    [0, count],
  )
})

t.test('a portion of dead letters begins after the last one of the portion before', async (t) => {
  const host = await startWorkedHost(t, { isDying: () => true })
  const { worker, core } = host
  await worker.insert(['0'], RECIPIENT)
  await multiply(host, 7)
  const retry = retrySettingsOf(core.settings.worker)
  const counts: number[] = []
  let afterId: string | null = null
  do {
    const selection: DeadLetterSelection = { recipient: RECIPIENT, ...(afterId && { afterId }) }
    const { count, lastId } = await redriveDeadLetters(core.db, QUEUE, selection, retry, 3)
    counts.push(count)
    t.ok(lastId === null || afterId === null || lastId > afterId)
    afterId = lastId
  } while (afterId !== null)
  t.strictSame(counts, [3, 3, 1, 0])
})

t.test(
  'work on dead letters goes on after the last one, and comes back for those that were locked',
  async (t) => {
    const host = await startWorkedHost(t, { isDying: () => true })
    await host.worker.insert(['0'], RECIPIENT)
    await multiply(host, 1200)
    // Its periodic task would carry out the work as well.
    await host.app.close()
    const { database } = host
    const { core } = await startHost(t, { database, core: { worker: { enabled: false } } })
    const retry = retrySettingsOf(core.settings.worker)
    await insertWork(core.db, QUEUE, RECIPIENT, 'redrive')
    const positions: unknown[] = []
    /** Returns whether the work is done. */
    const portion = () =>
      until(
        () =>
          core.transaction(async (db) => {
            const work = await lockWork(db, [QUEUE])
            if (!work) return undefined
            positions.push(work.position)
            return (await workPortion(db, work, {}, retry)).finishedAt !== null
          }),
        (isDone) => isDone !== undefined,
      )
    await core.transaction(async (other) => {
      await other.query(
        `select from svc_jobs.job
          where name = $1 and id = (select id from svc_jobs.job where name = $1 order by id limit 1)
            for update`,
        [`${QUEUE}.dlq`],
      )
      t.strictSame([await portion(), await portion(), await portion()], [false, false, false])
    })
    t.equal(await portion(), true)
    const { rowCount } = await core.db.query(`select from svc_jobs.job where name = $1`, [
      `${QUEUE}.dlq`,
    ])
    t.equal(rowCount, 0)
    const [first, second, , last] = positions
    t.strictSame([first, last], [null, null])
    t.match(second, { afterId: String })
  },
)
