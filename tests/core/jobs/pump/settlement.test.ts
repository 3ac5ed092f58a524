import t from 'tap'
import type { Job } from '../../../../packages/core/src/jobs/job.ts'
import {
  byOutput,
  jobsToUseUp,
  retryInMs,
  settlementOf,
  type Settlement,
} from '../../../../packages/core/src/jobs/pump/settlement.ts'
import type { Outcome } from '../../../../packages/core/src/jobs/worker.ts'

const job = (id: string, isLastAttempt = false) =>
  ({ id, attemptsLeft: isLastAttempt ? 0 : 2 }) as Job
const last = { attemptsLeft: 0, retryInMs: null }
const notLast = { attemptsLeft: 5, retryInMs: 60_000 }

const CASES: [about: string, outcome: Outcome, isLastAttempt: boolean, list: keyof Settlement][] = [
  ['a completed job is deleted', { kind: 'completed' }, false, 'completed'],
  ['a job whose event is gone is deleted', { kind: 'cancelled' }, true, 'cancelled'],
  ['a failed job with attempts left is tried again', { kind: 'failed' }, false, 'retried'],
  ['a job that failed its last attempt dies', { kind: 'failed' }, true, 'dying'],
  ['a schedule ends a job before its row does', { kind: 'failed', schedule: last }, false, 'dying'],
  ['a schedule goes on after its row', { kind: 'failed', schedule: notLast }, true, 'retried'],
  ['a rejected job dies with attempts left', { kind: 'rejected' }, false, 'dying'],
  ['a postponed job waits', { kind: 'postponed', delayMs: 5 }, true, 'postponed'],
  ['a parked job waits apart', { kind: 'parked' }, true, 'parked'],
]
for (const [about, outcome, isLastAttempt, list] of CASES) {
  t.test(`a settlement by outcome: ${about}`, async (t) => {
    const settlement = settlementOf([{ job: job('a', isLastAttempt), outcome }])
    const filled = Object.entries(settlement).filter(([, outcomes]) => outcomes.length > 0)
    t.strictSame(
      filled.map(([name]) => name),
      [list],
    )
  })
}

t.test('a settlement keeps the order of its batch', async (t) => {
  const batch = ['a', 'b', 'c'].map((id) => ({
    job: job(id),
    outcome: { kind: 'failed' } as const,
  }))
  t.strictSame(
    settlementOf(batch).retried.map(({ job }) => job.id),
    ['a', 'b', 'c'],
  )
})

t.test('the attempts of a job that dies early are used up by its row', async (t) => {
  const { dying } = settlementOf([
    { job: job('dies early'), outcome: { kind: 'rejected' } },
    { job: job('dies in time', true), outcome: { kind: 'failed' } },
    { job: job('goes on'), outcome: { kind: 'failed' } },
  ])
  t.strictSame(
    jobsToUseUp(dying).map(({ id }) => id),
    ['dies early'],
  )
})

t.test('dead letters with the same output share a call of pg-boss', async (t) => {
  const { dying } = settlementOf([
    { job: job('a'), outcome: { kind: 'rejected', output: { status: 410 } } },
    { job: job('b'), outcome: { kind: 'rejected', output: { status: 500 } } },
    { job: job('c'), outcome: { kind: 'rejected', output: { status: 410 } } },
    { job: job('d'), outcome: { kind: 'rejected' } },
  ])
  t.strictSame(
    byOutput(dying).map(({ output, jobs }) => [output, jobs.map(({ id }) => id)]),
    [
      [{ status: 410 }, ['a', 'c']],
      [{ status: 500 }, ['b']],
      [{}, ['d']],
    ],
  )
})

t.test('the delay of a schedule begins with the end of the attempt', async (t) => {
  const rows: [retryInMs: number | null, endedAt: number | undefined, inMs: number | null][] = [
    [null, 1000, null],
    [5000, 1000, 4960],
    [5000, undefined, 5000],
    [30, 1000, 0],
  ]
  for (const [delayMs, endedAt, inMs] of rows) {
    const schedule = { attemptsLeft: 2, retryInMs: delayMs }
    const { retried } = settlementOf([
      { job: job('a'), outcome: { kind: 'failed', schedule }, ...(endedAt ? { endedAt } : {}) },
    ])
    t.equal(retryInMs(retried[0]!, 1040), inMs)
  }
})
