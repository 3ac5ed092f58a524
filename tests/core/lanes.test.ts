import t from 'tap'
import { Lanes } from '../../packages/core/src/jobs/pump/slots.ts'

const windows: [concurrency: number, fresh: number, slow: number][] = [
  [1, 1, 1],
  [2, 1, 1],
  [4, 3, 1],
  [10, 8, 2],
  [256, 192, 64],
]
for (const [concurrency, fresh, slow] of windows) {
  t.test(
    `a concurrency of ${concurrency} is ${fresh} and ${slow}, and never more together`,
    async (t) => {
      const lanes = new Lanes(concurrency)
      t.strictSame(lanes.windows, { fresh, slow })
      t.equal(lanes.room('fresh', 0), fresh)
      t.equal(lanes.room('slow', 0), slow)
      let running = 0
      for (const lane of ['fresh', 'slow'] as const) {
        while (lanes.mayStart(lane)) {
          lanes.claim(lane, 1)
          lanes.start(lane)
          running++
        }
        t.equal(lanes.room(lane, 0), 0)
      }
      t.equal(running, concurrency)
      t.equal(lanes.claimed, concurrency)
    },
  )
}

t.test('less than a quarter of the window is no room', async (t) => {
  const lanes = new Lanes(256)
  lanes.claim('fresh', 192 - 47)
  t.equal(lanes.room('fresh', 0), 0)
  lanes.end('fresh', false)
  t.equal(lanes.room('fresh', 0), 48)
})

t.test('what is claimed ahead does not run, and leaves the other lane its window', async (t) => {
  const lanes = new Lanes(10)
  t.equal(lanes.room('fresh', 100), 108)
  lanes.claim('fresh', 108)
  let running = 0
  for (; lanes.mayStart('fresh'); running++) lanes.start('fresh')
  t.equal(running, 8)
  t.ok(lanes.mayStart('slow'))
  t.equal(lanes.room('slow', 0), 0, 'nothing more is claimed until the quick ones are done')
  t.equal(lanes.room('slow', 100), 0)
  for (let i = 0; i < 108; i++) lanes.end('fresh', i < 8)
  t.equal(lanes.claimed, 0)
  t.equal(lanes.room('slow', 0), 2)
})

t.test('where nothing waits in the slow lane the fresh one may have its places', async (t) => {
  const lanes = new Lanes(8)
  lanes.reserved = false
  t.equal(lanes.room('fresh', 0), 8)
  for (let i = 0; i < 8; i++) {
    lanes.claim('fresh', 1)
    t.ok(lanes.mayStart('fresh'))
    lanes.start('fresh')
  }
  t.equal(lanes.room('slow', 0), 0)
  lanes.reserved = true
  lanes.end('fresh', true)
  lanes.end('fresh', true)
  t.notOk(lanes.mayStart('fresh'), 'and gives them back when something does')
  t.equal(lanes.room('slow', 0), 2)
})
