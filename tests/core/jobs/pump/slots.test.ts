import t from 'tap'
import { Slots } from '../../../../packages/core/src/jobs/pump/slots.ts'

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
      t.equal(slots.room('first', 0), first)
      t.equal(slots.room('retry', 0), retry)
      for (const lane of ['first', 'retry'] as const) {
        slots.reserve(lane, slots.room(lane, 0))
        t.equal(slots.room(lane, 0), 0)
      }
      t.equal(slots.used, concurrency)
    },
  )
}

t.test('a lane is not refilled while less than a quarter of its slots is free', async (t) => {
  const slots = new Slots(256)
  slots.reserve('first', 192 - 47)
  t.equal(slots.room('first', 0), 0)
  t.equal(slots.free('first'), 47)
  slots.release('first', 1)
  t.equal(slots.room('first', 0), 48)
})

t.test('jobs that were fetched ahead leave the other lane its slots', async (t) => {
  const slots = new Slots(10)
  t.equal(slots.room('first', 100), 108)
  slots.reserve('first', 108)
  let running = 0
  for (; slots.mayStart('first'); running++) slots.start('first')
  t.equal(running, 8)
  t.ok(slots.mayStart('retry'))
  t.equal(slots.room('first', 100), 0, 'nothing more is fetched until the quick ones have ended')
  t.equal(slots.room('retry', 0), 2, 'in this lane: retries do not wait for them')
  t.equal(slots.room('retry', 20), 22)
  for (; running > 0; running--) slots.end('first')
  slots.release('first', 100)
  t.equal(slots.used, 0)
  t.equal(slots.room('retry', 0), 2)
})

t.test('while no retries wait the first lane may have all slots', async (t) => {
  const slots = new Slots(8)
  slots.keepForRetries(false)
  t.equal(slots.room('first', 0), 8)
  slots.reserve('first', 8)
  t.equal(slots.room('retry', 0), 0)
  slots.keepForRetries(true)
  slots.release('first', 2)
  t.equal(slots.room('first', 0), 0, 'and gives slots back when retries come')
  t.equal(slots.room('retry', 0), 2)
})
