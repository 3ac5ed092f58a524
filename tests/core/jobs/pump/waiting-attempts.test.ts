import t from 'tap'
import type { Lane } from '../../../../packages/core/src/jobs/job.ts'
import { WaitingAttempts } from '../../../../packages/core/src/jobs/pump/attempts.ts'

/** Two of each lane, fetched in turns: at 1, 2, 3 and 4. */
function four() {
  const waiting = new WaitingAttempts<{ lane: Lane; fetchedAt: number }>()
  for (const fetchedAt of [1, 2, 3, 4]) {
    waiting.add({ lane: fetchedAt % 2 === 1 ? 'first' : 'retry', fetchedAt })
  }
  return waiting
}

const CASES: [about: string, mayStart: (lane: Lane) => boolean, order: number[]][] = [
  ['both lanes have slots: the oldest first', () => true, [1, 2, 3, 4]],
  ['the first lane alone has slots', (lane) => lane === 'first', [1, 3]],
  ['the retry lane alone has slots', (lane) => lane === 'retry', [2, 4]],
  ['no lane has a slot', () => false, []],
]
for (const [about, mayStart, order] of CASES) {
  t.test(`attempts that wait for a slot are taken where ${about}`, async (t) => {
    const waiting = four()
    const taken: number[] = []
    for (let one = waiting.takeNext(mayStart); one; one = waiting.takeNext(mayStart)) {
      taken.push(one.fetchedAt)
    }
    t.strictSame(taken, order)
    t.equal(waiting.isEmpty, order.length === 4)
  })
}

t.test('attempts that have waited too long are taken out of both lanes', async (t) => {
  const waiting = four()
  const overdue = (fetchedBy: number) =>
    waiting.takeOverdue(fetchedBy).map(({ fetchedAt }) => fetchedAt)
  t.strictSame(overdue(0), [], 'none has')
  t.strictSame(overdue(3), [1, 3, 2], 'the moment itself is included')
  t.notOk(waiting.isEmpty)
  t.strictSame(overdue(4), [4])
  t.ok(waiting.isEmpty)
})
