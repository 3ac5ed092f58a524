import type { Core, Job } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { QueueTable } from '../../../../packages/core/src/jobs/pg-boss/queue-table.ts'
import { settle, type Ends } from '../../../../packages/core/src/jobs/pump/settle.ts'
import { fetch, NO_ENDS } from '../../support/claimed-jobs.ts'
import { startHost } from '../../support/host.ts'
import { RECIPIENT, idOf, QUEUE } from '../../support/worker.ts'

const HOUR_MS = 3_600_000
const FAILED = { atLeastMs: 0, exactlyMs: null, attemptsLeft: null, isUnsent: false }

interface Stored {
  state: string
  blocked: boolean
  priority: number
  retryCount: number
  retryLimit: number
  data: Record<string, unknown>
  inSeconds: number
}

/** Jobs of these names, which one process has claimed. */
async function claimed(
  t: Test,
  names: string[],
  worker: { retryDelaySeconds?: number; retryBackoff?: boolean } = {},
) {
  const { core } = await startHost(t, {
    core: { worker: { enabled: false, maxAttempts: 5, ...worker } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const inserted = names.map((name) => ({
    id: idOf(name),
    data: { event: 'test', unsentSince: '2026-01-01T00:00:00Z' },
    recipient: RECIPIENT,
  }))
  await core.queues.insert(core.db, QUEUE, inserted)
  const jobs = await fetch(core.db, new QueueTable(QUEUE), 100)
  const jobOf = (name: string): Job => {
    const job = jobs.find(({ id }) => id === idOf(name))
    if (job === undefined) throw new Error(`no job ${name}`)
    return job
  }
  return { core, jobOf }
}

async function storedOf(core: Core, name: string): Promise<Stored | undefined> {
  const { rows } = await core.db.query(
    `select state, blocked, priority, retry_count as "retryCount", retry_limit as "retryLimit", data,
            extract(epoch from start_after - now())::float8 as "inSeconds"
       from svc_jobs.job where name = $1 and id = $2`,
    [QUEUE, idOf(name)],
  )
  return rows[0]
}

const failed = (core: Core, jobs: Ends['failed']) =>
  settle(core.db, QUEUE, { ...NO_ENDS, failed: jobs })

const retryOf = (core: Core, job: Job, more: Partial<Ends['failed'][number]> = {}) =>
  failed(core, [{ ...FAILED, job, ...more }])

t.test('a failed job waits for its back-off, in the retry lane', async (t) => {
  const { core, jobOf } = await claimed(t, ['a'], { retryDelaySeconds: 100, retryBackoff: true })
  const next = await retryOf(core, jobOf('a'))
  t.ok((next.get(idOf('a'))?.inMs ?? 0) > 90_000)
  t.match(await storedOf(core, 'a'), {
    state: 'retry',
    blocked: true,
    priority: -1,
    retryCount: 0,
  })
  const { inSeconds = 0 } = (await storedOf(core, 'a')) ?? {}
  t.ok(inSeconds > 90 && inSeconds <= 200, `100 to 200 seconds: ${inSeconds}`)
  t.notOk((await storedOf(core, 'a'))?.data.unsentSince, 'it was sent')
})

t.test('without a back-off the delay is the same each time', async (t) => {
  const { core, jobOf } = await claimed(t, ['a'], { retryDelaySeconds: 100, retryBackoff: false })
  await retryOf(core, jobOf('a'))
  const { inSeconds = 0 } = (await storedOf(core, 'a')) ?? {}
  t.ok(inSeconds > 90 && inSeconds <= 100)
})

t.test('a schedule and a pause that the receiver asks for', async (t) => {
  const names = ['scheduled', 'paused', 'shorter']
  const { core, jobOf } = await claimed(t, names, { retryDelaySeconds: 600 })
  const next = await failed(core, [
    { ...FAILED, job: jobOf('scheduled'), exactlyMs: 20_000, attemptsLeft: 9 },
    { ...FAILED, job: jobOf('paused'), atLeastMs: HOUR_MS },
    { ...FAILED, job: jobOf('shorter'), exactlyMs: HOUR_MS, atLeastMs: 1000 },
  ])
  const inMs = (name: string) => next.get(idOf(name))?.inMs ?? 0
  t.ok(inMs('scheduled') > 10_000 && inMs('scheduled') <= 20_000)
  t.ok(inMs('paused') > HOUR_MS - 10_000)
  t.ok(inMs('shorter') > HOUR_MS - 10_000)
  t.match(await storedOf(core, 'scheduled'), { retryLimit: 9, data: { publishedRetryLimit: 4 } })
  t.match(await storedOf(core, 'paused'), {
    retryLimit: 4,
    data: { publishedRetryLimit: undefined },
  })
})

t.test('the job says what its last attempt was, and since when none could be sent', async (t) => {
  const { core, jobOf } = await claimed(t, ['a', 'b'])
  await retryOf(core, { ...jobOf('a'), traceContext: '00-aa-bb-01' }, { isUnsent: true })
  await retryOf(core, { ...jobOf('b'), traceContext: '00-cc-dd-01' })
  t.match((await storedOf(core, 'a'))?.data, {
    attemptedIn: '00-aa-bb-01',
    unsentSince: '2026-01-01T00:00:00Z',
  })
  t.strictSame((await storedOf(core, 'b'))?.data, { event: 'test', attemptedIn: '00-cc-dd-01' })
})

t.test('a job that belongs to another process by now does not change', async (t) => {
  const { core, jobOf } = await claimed(t, ['a'])
  const lost = jobOf('a')
  await core.db.query(
    `update svc_jobs.job set started_on = started_on + interval '1 second' where name = $1`,
    [QUEUE],
  )
  t.equal((await retryOf(core, lost)).size, 0)
  t.match(await storedOf(core, 'a'), { state: 'active' })
})

t.test(
  'jobs that wait again for a recipient that is held, restricted or failing wait aside',
  async (t) => {
    const names = ['failed', 'parked', 'postponed']
    for (const state of ['held', 'restricted', 'circuit_open']) {
      const { core, jobOf } = await claimed(t, names)
      await core.db.query(
        `insert into svc."__svc.recipient_states" (queue, recipient, ${state}) values ($1, $2, true)`,
        [QUEUE, RECIPIENT],
      )
      await settle(core.db, QUEUE, {
        ...NO_ENDS,
        failed: [{ ...FAILED, job: jobOf('failed') }],
        parked: [jobOf('parked')],
        postponed: [{ job: jobOf('postponed'), delayMs: 0, isUnsent: false }],
      })
      t.match(await storedOf(core, 'failed'), { state: 'retry', priority: -2 }, state)
      t.match(await storedOf(core, 'parked'), { state: 'created', priority: -2 }, state)
      t.match(await storedOf(core, 'postponed'), { state: 'created', priority: -2 }, state)
    }
  },
)

t.test('a job that need not wait for its recipient any more waits for a moment', async (t) => {
  const { core, jobOf } = await claimed(t, ['parked', 'postponed'])
  await settle(core.db, QUEUE, {
    ...NO_ENDS,
    parked: [jobOf('parked')],
    postponed: [{ job: jobOf('postponed'), delayMs: HOUR_MS, isUnsent: false }],
  })
  const stored = await storedOf(core, 'parked')
  t.match(stored, { state: 'created', priority: -1 })
  t.ok((stored?.inSeconds ?? 0) > 0)
  t.match(await storedOf(core, 'postponed'), { priority: -1 }, 'jobs of the first lane are due')
})
