import type { Job, Result } from '@svc/core/internal'
import t from 'tap'
import { resultOf, type Outcome } from '../../../../packages/core/src/jobs/worker.ts'
import { endsOf, rowsOf } from '../../../../packages/core/src/jobs/pump/settle.ts'

const job = (id: string, isLastAttempt = false) =>
  ({ id, attemptsLeft: isLastAttempt ? 0 : 2 }) as Job
const last = { attemptsLeft: 0, retryInMs: null }
const notLast = { attemptsLeft: 5, retryInMs: 60_000 }

const CASES: [about: string, outcome: Outcome, isLastAttempt: boolean, is: Result, list: string][] =
  [
    ['a completed job is deleted', { kind: 'completed' }, false, 'completed', 'done'],
    ['a job whose event is gone is deleted', { kind: 'cancelled' }, true, 'cancelled', 'done'],
    ['a failed job with attempts left', { kind: 'failed' }, false, 'retry', 'failed'],
    ['a job that failed its last attempt dies', { kind: 'failed' }, true, 'dead', 'dead'],
    ['a schedule ends before its row', { kind: 'failed', schedule: last }, false, 'dead', 'dead'],
    ['one goes on after it', { kind: 'failed', schedule: notLast }, true, 'retry', 'failed'],
    ['a rejected job dies with attempts left', { kind: 'rejected' }, false, 'dead', 'dead'],
    ['it waits', { kind: 'postponed', delayMs: 5 }, true, 'postponed', 'postponed'],
    ['a parked job waits apart', { kind: 'parked' }, true, 'parked', 'parked'],
  ]
for (const [about, outcome, isLastAttempt, result, list] of CASES) {
  t.test(`what becomes of a job by its outcome: ${about}`, async (t) => {
    const one = { job: job('a', isLastAttempt), outcome }
    t.equal(resultOf(one), result)
    const filled = Object.entries(endsOf([{ ...one, result }])).filter(
      ([, jobs]) => jobs.length > 0,
    )
    t.strictSame(
      filled.map(([name]) => name),
      [list],
    )
  })
}

t.test('one statement settles that of which only rows follow', async (t) => {
  const record = {
    function: 'f',
    rowsOf: ({ job }: { job: Job }) => (job.isProbe ? null : [{ job: job.id }]),
  }
  const worker = { queue: 'q', record, follow: async () => {} }
  const ended = (result: Result, more: Partial<Job> = {}) => ({
    job: { ...job('a'), ...more },
    outcome: { kind: 'completed' } as const,
    result,
  })
  t.strictSame(rowsOf(worker, ended('completed')), [{ job: 'a' }])
  t.strictSame(rowsOf(worker, ended('retry')), [{ job: 'a' }])
  t.equal(rowsOf(worker, ended('completed', { isProbe: true })), null)
  t.equal(rowsOf(worker, ended('dead')), null, 'what follows needs a transaction')
  t.strictSame(rowsOf(worker, ended('parked')), [{ job: 'a' }])
  t.strictSame(rowsOf({ queue: 'q' }, ended('dead')), [], 'nothing follows')
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
    const outcome = { kind: 'failed', schedule } as const
    const one = {
      job: job('a'),
      outcome,
      result: 'retry',
      ...(endedAt ? { endedAt } : {}),
    } as const
    t.equal(endsOf([one], 1040).failed[0]?.exactlyMs, inMs)
  }
})
