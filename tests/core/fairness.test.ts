import t from 'tap'
import { Fairness } from '../../packages/core/src/fairness.ts'

const WINDOWS = { fresh: 192, slow: 64 }
const ROOM = 200

/** Attempts of a group that begin at `now`. */
function start(fairness: Fairness, name: string, attempts: number, now = 0): void {
  for (let i = 0; i < attempts; i++) fairness.started(name, now)
}

t.test('where nothing is in flight a fetch may bring all that there is room for', async (t) => {
  const fairness = new Fairness(WINDOWS)
  t.same(fairness.allow('fresh', ROOM, 0), { limit: ROOM, passedOver: [], capped: [] })
})

t.test(
  'one group gets three quarters of the fresh lane, so a fetch stays below that',
  async (t) => {
    const fairness = new Fairness(WINDOWS)
    start(fairness, 'a', 100)
    t.equal(fairness.allow('fresh', ROOM, 0).limit, 144 - 100)
  },
)

t.test('the next fetch waits for a quick group at its cap', async (t) => {
  const fairness = new Fairness(WINDOWS)
  start(fairness, 'a', 120)
  t.same(fairness.allow('fresh', ROOM, 10), { limit: 0, passedOver: [], capped: [] })
})

t.test('a group at its cap that is not heard of is passed over', async (t) => {
  const fairness = new Fairness(WINDOWS)
  start(fairness, 'a', 120)
  t.same(fairness.allow('fresh', ROOM, 60), { limit: ROOM, passedOver: [], capped: ['a'] })
})

t.test('a group at its cap whose attempts take long is passed over', async (t) => {
  const fairness = new Fairness(WINDOWS)
  start(fairness, 'a', 150)
  for (let i = 0; i < 20; i++) fairness.ended('a', true, 300, 1000)
  t.same(fairness.allow('fresh', ROOM, 1001).capped, ['a'])
})

t.test(
  'a capped group whose backlog makes fetches long is tripped until it is quick',
  async (t) => {
    const fairness = new Fairness(WINDOWS)
    start(fairness, 'a', 144)
    t.same(fairness.walked(['a'], 9), [], 'a short walk costs nobody anything')
    t.same(fairness.walked(['a'], 11), ['a'])
    t.same(fairness.walked(['a'], 11), [], 'it is tripped once')
    t.same(fairness.allow('fresh', ROOM, 60).passedOver, ['a'])
    t.equal(fairness.ended('a', true, 1, 61), 'recovered')
    t.same(fairness.tripped(), [])
  },
)

t.test(
  'a group that was tripped for its slowness has recovered when nothing is left of it',
  async (t) => {
    const fairness = new Fairness(WINDOWS)
    start(fairness, 'a', 2)
    fairness.walked(['a'], 20)
    t.equal(fairness.ended('a', true, 5000, 5000), undefined)
    t.equal(fairness.ended('a', true, 5000, 5000), 'recovered')
    t.equal(fairness.size, 0)
  },
)

t.test('ten failures in a row trip a group', async (t) => {
  const fairness = new Fairness(WINDOWS)
  start(fairness, 'a', 30)
  for (let i = 0; i < 9; i++) t.equal(fairness.ended('a', false, 1, 0), undefined)
  t.equal(fairness.ended('a', true, 1, 0), undefined, 'a success begins the count anew')
  for (let i = 0; i < 9; i++) t.equal(fairness.ended('a', false, 1, 0), undefined)
  t.equal(fairness.ended('a', false, 1, 0), 'tripped')
  t.same(fairness.tripped(), ['a'])

  t.test('it has no business in the fresh lane', async (t) => {
    t.same(fairness.allow('fresh', ROOM, 0).passedOver, ['a'])
  })
  t.test('in the slow lane it gets an eighth of the window, in small portions', async (t) => {
    t.same(fairness.allow('slow', ROOM, 0), { limit: 8, passedOver: [], capped: ['a'] })
    fairness.ended('a', false, 1, 0)
    fairness.ended('a', false, 1, 0)
    fairness.ended('a', false, 1, 0)
    t.same(fairness.allow('slow', ROOM, 0), { limit: 8, passedOver: [], capped: [] })
  })
  t.test('it stays tripped while nothing of it is in flight', async (t) => {
    for (let i = 0; i < 7; i++) fairness.ended('a', false, 1, 0)
    t.same(fairness.tripped(), ['a'])
    t.same(fairness.allow('fresh', ROOM, 0).passedOver, ['a'])
    t.equal(fairness.allow('slow', ROOM, 0).limit, 8)
  })
  t.test('one success is its recovery', async (t) => {
    fairness.started('a', 0)
    t.equal(fairness.ended('a', true, 1, 0), 'recovered')
    t.equal(fairness.size, 0, 'and there is nothing to remember')
  })
})

t.test('an outcome that says nothing about the endpoint counts for nothing', async (t) => {
  const fairness = new Fairness(WINDOWS)
  start(fairness, 'a', 40)
  for (let i = 0; i < 20; i++) fairness.ended('a', null, 0, 0)
  t.same(fairness.tripped(), [])
})

t.test('jobs without a group have no cap', async (t) => {
  const fairness = new Fairness(WINDOWS)
  for (let i = 0; i < 500; i++) fairness.started(null, 0)
  t.equal(fairness.allow('fresh', ROOM, 0).limit, ROOM)
  t.equal(fairness.ended(null, false, 1, 0), undefined)
})

t.test('the smallest windows leave room for one', async (t) => {
  const fairness = new Fairness({ fresh: 1, slow: 1 })
  t.equal(fairness.allow('fresh', 1, 0).limit, 1)
  fairness.started('a', 0)
  t.same(fairness.allow('slow', 1, 100), { limit: 1, passedOver: [], capped: ['a'] })
})

t.test('ten thousand endpoints that fail are remembered, and no more', async (t) => {
  const fairness = new Fairness(WINDOWS)
  for (let i = 0; i < 10_100; i++) {
    fairness.started(`endpoint ${i}`, 0)
    fairness.ended(`endpoint ${i}`, false, 1, 0)
  }
  t.equal(fairness.size, 10_000)
})
