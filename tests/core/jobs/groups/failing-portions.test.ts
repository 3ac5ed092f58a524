/** Recoveries and moves that cannot be carried out, beside others that can. */
import { listRecoveries, type Core, type Worker } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { insertMove, type Progress } from '../../../../packages/core/src/jobs/groups/moves-table.ts'
import { JobMover } from '../../../../packages/core/src/jobs/groups/job-mover.ts'
import { openDatabase } from '../../../../packages/core/src/postgres/pools.ts'
import { startHost } from '../../support/host.ts'
import { idOf, QUEUE } from '../../support/worker.ts'

const BROKEN = '00000000-0000-4000-8000-00000000000b'
const SOUND = '00000000-0000-4000-8000-00000000000c'
const RETRY = {
  maxAttempts: 3,
  retryDelaySeconds: 0,
  retryBackoff: false,
  retryDelayMaxSeconds: 60,
}

/**
 * A mover of its own over a queue, and the errors that it logs. Of the group BROKEN all fails with
 * `error`. Transactions roll back with it where `losesCommit` says so.
 */
async function moverThatFails(t: Test, error: Error, losesCommit = () => false) {
  const { core, database: url } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const pools = await openDatabase(url, () => {})
  t.teardown(() => pools.close())
  const errors: { details: Record<string, unknown>; message: string }[] = []
  const log = {
    info() {},
    error: (details: object, message: string) =>
      void errors.push({ details: details as Record<string, unknown>, message }),
  }
  const progress: Progress = new Map()
  const database: Pick<typeof pools, 'background'> = {
    background: (work, options) =>
      pools.background(async (db) => {
        const result = await work(db)
        if (losesCommit()) throw error
        return result
      }, options),
  }
  const mover = new JobMover(database, RETRY, log, () => {}, progress)
  t.teardown(() => mover.close())
  const failOf = (group: string | null) => {
    if (group === BROKEN) throw error
  }
  const worker: Worker = {
    queue: QUEUE,
    concurrency: 1,
    prepare: async () => () => null,
    perform: async () => ({ kind: 'completed' }),
    async recoverMissing(_db, { group }) {
      failOf(group)
      return { done: 3, isFinished: true }
    },
    async recordDiscarded(_db, jobs) {
      for (const { group } of jobs) failOf(group)
    },
  }
  mover.addWorker(worker)
  return { core, mover, errors, progress }
}

async function beginRecovery(core: Core, group: string): Promise<void> {
  const asked = { queue: QUEUE, group, what: 'missing' as const, perSecond: null }
  const span = { since: '2020-01-01T00:00:00Z', until: null }
  await core.transaction((db) => core.queues.recover(db, { ...asked, ...span }))
}

/** A move that deletes the jobs of the group, of which there is one. */
async function beginMove(core: Core, group: string, parked = true): Promise<void> {
  const job = { id: idOf(group), data: { event: 'test' }, group, parked }
  await core.transaction(async (db) => {
    await core.queues.insert(db, QUEUE, [job])
    await insertMove(db, QUEUE, group, 'discard')
  })
}

const isFinished = async (core: Core, group: string): Promise<boolean> => {
  const [recovery] = await listRecoveries(core.db, QUEUE, { group })
  return recovery?.finishedAt !== null
}

async function groupsWithMoves(core: Core): Promise<string[]> {
  const { rows } = await core.db.query('select recipient as "group" from svc."__svc.moves"')
  return rows.map(({ group }) => group)
}

t.test('a recovery and a move that fail hold up no others', async (t) => {
  const { core, mover, errors } = await moverThatFails(t, new Error('of this one alone'))
  for (const group of [BROKEN, SOUND]) {
    await beginRecovery(core, group)
    await beginMove(core, group)
  }
  await mover.run()
  t.equal(await isFinished(core, SOUND), true)
  t.equal(await isFinished(core, BROKEN), false)
  t.same(await groupsWithMoves(core), [BROKEN])
  const { rows } = await core.db.query(
    `select next_at > created_at + interval '1 second' as "isPostponed"
       from svc."__svc.recoveries" where recipient = $1`,
    [BROKEN],
  )
  t.same(rows, [{ isPostponed: true }])
  const ofRecovery = errors.find(({ message }) => message.startsWith('a portion of a recovery'))
  t.match(ofRecovery?.details, { group: BROKEN, what: 'missing', againInMs: Number })
  const ofMove = errors.find(({ message }) => message.startsWith('a portion of a move'))
  t.match(ofMove?.details, { group: BROKEN, kind: 'discard', againInMs: Number })
})

t.test(
  'an outage puts no recovery off: the run ends, and a periodic task tries again',
  async (t) => {
    const outage = Object.assign(new Error('the server stops'), { code: '57P01' })
    const { core, mover, errors } = await moverThatFails(t, outage)
    await beginRecovery(core, BROKEN)
    await mover.run()
    t.match(errors, [{ message: 'could not move jobs of a group; a periodic task tries again' }])
    const { rows } = await core.db.query(
      `select next_at <= created_at as "isDue" from svc."__svc.recoveries"`,
    )
    t.same(rows, [{ isDue: true }])
  },
)

t.test('a portion of a move whose commit is lost in an outage is carried out again', async (t) => {
  const outage = Object.assign(new Error('the server stops'), { code: '57P01' })
  let lost = 0
  const { core, mover } = await moverThatFails(t, outage, () => lost++ === 1)
  await beginMove(core, SOUND, false)
  await mover.run()
  t.same(await groupsWithMoves(core), [SOUND], 'the outage ends the run')
  await mover.run()
  t.same(await groupsWithMoves(core), [])
  const { rows } = await core.db.query(
    'select count(*)::int as jobs from svc_jobs.job where name = $1',
    [QUEUE],
  )
  t.same(rows, [{ jobs: 0 }])
})

t.test('how far a move is, is forgotten once another process has finished it', async (t) => {
  const { core, mover, progress } = await moverThatFails(t, new Error('of this one alone'))
  await beginMove(core, SOUND)
  const table = 'svc."__svc.moves"'
  await core.transaction(async (db) => {
    const { rows } = await db.query(`select id::text from ${table} for update`)
    const [{ id }] = rows as [{ id: string }]
    progress.set(id, null)
    await mover.run()
    t.strictSame([...progress.keys()], [id], 'another process carries it out')
    await db.query(`delete from ${table}`)
  })
  await mover.run()
  t.equal(progress.size, 0)
})
