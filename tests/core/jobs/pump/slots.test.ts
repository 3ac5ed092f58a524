import t from 'tap'
import { Slots } from '../../../../packages/core/src/jobs/pump/slots.ts'

/** Any moment: the slots of a lane have never been refilled before it. */
const now = 5000

const windows: [concurrency: number, first: number, retry: number][] = [
  [1, 1, 1],
  [2, 1, 1],
  [4, 3, 1],
  [10, 8, 2],
  [256, 192, 64],
]
for (const [concurrency, first, retry] of windows) {
  t.test(
    `a concurrency of ${concurrency} is ${first} and ${retry}, and never more together`,
    async (t) => {
      const slots = new Slots(concurrency)
      t.strictSame(slots.windows, { first, retry })
      t.equal(slots.room('first', 0, now), first)
      t.equal(slots.room('retry', 0, now), retry)
      for (const lane of ['first', 'retry'] as const) {
        slots.reserve(lane, slots.room(lane, 0, now))
        t.equal(slots.room(lane, 0, now), 0)
      }
      t.equal(slots.used, concurrency)
    },
  )
}

t.test('a lane is not refilled while less than a quarter of its slots is free', async (t) => {
  const slots = new Slots(256)
  slots.refilled('first', 1, now)
  slots.reserve('first', 192 - 47)
  t.equal(slots.room('first', 0, now), 0)
  t.equal(slots.free('first'), 47)
  slots.release('first', 1)
  t.equal(slots.room('first', 0, now), 48)
})

t.test('a few free slots of a lane wait for others, but not for long', async (t) => {
  const waits: [fetchTookMs: number, waitMs: number][] = [
    [1, 10],
    [5, 20],
    [500, 100],
  ]
  for (const [tookMs, waitMs] of waits) {
    const slots = new Slots(256)
    slots.reserve('first', 192 - 2)
    slots.refilled('first', tookMs, now)
    t.equal(slots.room('first', 0, now + waitMs - 1), 0)
    slots.refilled('retry', tookMs, now + waitMs)
    t.equal(slots.room('first', 0, now + waitMs), 2, 'the other lane has its own time')
    slots.reserve('first', 2)
    t.equal(slots.room('first', 0, now + waitMs), 0, 'no slot is free')
    t.equal(slots.room('first', 400, now + waitMs), 400, 'jobs may be fetched before they have one')
  }
})

t.test('jobs that were fetched ahead leave the other lane its slots', async (t) => {
  const slots = new Slots(10)
  t.equal(slots.room('first', 100, now), 108)
  slots.reserve('first', 108)
  let running = 0
  for (; slots.mayStart('first'); running++) slots.start('first')
  t.equal(running, 8)
  t.ok(slots.mayStart('retry'))
  t.equal(
    slots.room('first', 100, now),
    0,
    'nothing more is fetched until the quick ones have ended',
  )
  t.equal(slots.room('retry', 0, now), 2, 'in this lane: retries do not wait for them')
  t.equal(slots.room('retry', 20, now), 22)
  for (; running > 0; running--) slots.end('first')
  slots.release('first', 100)
  t.equal(slots.used, 0)
  t.equal(slots.room('retry', 0, now), 2)
})

t.test('while no retries wait the first lane may have all slots', async (t) => {
  const slots = new Slots(8)
  slots.keepForRetries(false)
  t.equal(slots.room('first', 0, now), 8)
  slots.reserve('first', 8)
  t.equal(slots.room('retry', 0, now), 0)
  slots.keepForRetries(true)
  slots.release('first', 2)
  t.equal(slots.room('first', 0, now), 0, 'and gives slots back when retries come')
  t.equal(slots.room('retry', 0, now), 2)
})
