import t from 'tap'
import { Fairness } from '../../packages/core/src/fairness.ts'
import type { Lane } from '../../packages/core/src/job.ts'

const WINDOWS = { fresh: 192, slow: 64 }
const ROOM = 200

/** How many of so many jobs of a group may begin at `now`. */
function begin(fairness: Fairness, name: string, jobs: number, now = 0, lane: Lane = 'fresh') {
  let admitted = 0
  for (let i = 0; i < jobs; i++) if (fairness.admit(name, lane, now)) admitted++
  return admitted
}

function answer(fairness: Fairness, name: string, answers: number, tookMs: number, now: number) {
  for (let i = 0; i < answers; i++) fairness.ended(name, true, tookMs, now)
}

/** A group that has answered a few times, and has nothing in flight. */
function withAnswers(tookMs: number): Fairness {
  const fairness = new Fairness(WINDOWS)
  begin(fairness, 'a', 10)
  answer(fairness, 'a', 10, tookMs, tookMs)
  return fairness
}

t.test('where nothing is in flight a fetch may bring all that there is room for', async (t) => {
  const fairness = new Fairness(WINDOWS)
  t.same(fairness.allow('fresh', ROOM, 0), { limit: ROOM, passedOver: [], capped: [] })
})

t.test('a group that has never answered gets an eighth of the window', async (t) => {
  const fairness = new Fairness(WINDOWS)
  t.equal(begin(fairness, 'a', 100), 24)
  t.same(fairness.allow('fresh', ROOM, 1), { limit: ROOM, passedOver: [], capped: ['a'] })
  t.same(fairness.allow('fresh', ROOM, 1, true).capped, ['a'], 'also where nobody else waits')
})

t.test('a group that answers quickly gets three quarters', async (t) => {
  const fairness = withAnswers(2)
  t.equal(begin(fairness, 'a', 200, 3), 144)

  t.test('and at its cap the next fetch waits for it', async (t) => {
    t.same(fairness.allow('fresh', ROOM, 4), { limit: 0, passedOver: [], capped: [] })
    answer(fairness, 'a', 71, 2, 5)
    t.equal(fairness.allow('fresh', ROOM, 6).limit, 0, 'until half of its places are free')
    answer(fairness, 'a', 1, 2, 6)
    t.equal(fairness.allow('fresh', ROOM, 6).limit, 72)
  })
  t.test('until it is not heard of', async (t) => {
    t.same(fairness.allow('fresh', ROOM, 60), { limit: ROOM, passedOver: [], capped: ['a'] })
  })
})

t.test('a group that answers slowly gets a quarter', async (t) => {
  const fairness = withAnswers(300)
  t.equal(begin(fairness, 'a', 200, 301), 48)
  t.same(fairness.allow('fresh', ROOM, 302), { limit: ROOM, passedOver: [], capped: ['a'] })

  t.test('and three quarters where nobody else waits', async (t) => {
    t.equal(fairness.allow('fresh', ROOM, 302, true).limit, 144 - 48)
    t.ok(fairness.admit('a', 'fresh', 302, true))
  })
  t.test('but an eighth when it has stopped answering', async (t) => {
    t.same(fairness.allow('fresh', ROOM, 3000, true).capped, ['a'])
  })
})

t.test(
  'a capped group whose backlog makes fetches long is tripped until it is quick',
  async (t) => {
    const fairness = withAnswers(300)
    begin(fairness, 'a', 48, 301)
    t.same(fairness.walked(['a'], 19, 301), [], 'a short walk costs nobody anything')
    t.same(fairness.walked(['a'], 21, 301), ['a'])
    t.same(fairness.walked(['a'], 21, 301), [], 'it is tripped once')
    t.same(fairness.allow('fresh', ROOM, 302).passedOver, ['a'])
    t.equal(begin(fairness, 'a', 9, 302, 'slow'), 0, 'in the slow lane it has all it may have')
    answer(fairness, 'a', 20, 1, 303)
    t.same(fairness.tripped(), [])
  },
)

t.test(
  'a group that was tripped for its slowness is forgiven when nothing is left of it',
  async (t) => {
    const fairness = withAnswers(300)
    begin(fairness, 'a', 2, 301)
    fairness.walked(['a'], 30, 301)
    t.equal(fairness.ended('a', true, 5000, 5000), undefined)
    t.equal(fairness.ended('a', true, 5000, 5000), 'recovered')
  },
)

t.test('ten failures in a row trip a group', async (t) => {
  const fairness = new Fairness(WINDOWS)
  begin(fairness, 'a', 24)
  for (let i = 0; i < 9; i++) t.equal(fairness.ended('a', false, 1, 0), undefined)
  t.equal(fairness.ended('a', true, 1, 0), undefined, 'a success begins the count anew')
  begin(fairness, 'a', 10)
  for (let i = 0; i < 9; i++) t.equal(fairness.ended('a', false, 1, 0), undefined)
  t.equal(fairness.ended('a', false, 1, 0), 'tripped')
  t.same(fairness.tripped(), ['a'])

  t.test('it has no business in the fresh lane', async (t) => {
    t.same(fairness.allow('fresh', ROOM, 0).passedOver, ['a'])
  })
  t.test('in the slow lane it gets an eighth of the window, in small portions', async (t) => {
    t.same(fairness.allow('slow', ROOM, 0), { limit: 8, passedOver: [], capped: ['a'] })
    for (let i = 0; i < 9; i++) fairness.ended('a', false, 1, 0)
    t.same(fairness.allow('slow', ROOM, 0), { limit: 8, passedOver: [], capped: [] })
  })
  t.test('it stays tripped while nothing of it is in flight', async (t) => {
    for (let i = 0; i < 5; i++) fairness.ended('a', false, 1, 0)
    t.same(fairness.tripped(), ['a'])
    t.same(fairness.allow('fresh', ROOM, 0).passedOver, ['a'])
    t.equal(fairness.allow('slow', ROOM, 0).limit, 8)
  })
  t.test('one success is its recovery', async (t) => {
    begin(fairness, 'a', 1, 0, 'slow')
    t.equal(fairness.ended('a', true, 1, 0), 'recovered')
    t.same(fairness.tripped(), [])
  })
})

t.test('failures that let others wait trip a group sooner', async (t) => {
  const stranger = new Fairness(WINDOWS)
  begin(stranger, 'a', 2)
  t.equal(stranger.ended('a', false, 3000, 3000), 'tripped', 'at once where it has never answered')

  const known = withAnswers(20)
  begin(known, 'a', 3, 21)
  t.equal(known.ended('a', false, 3000, 3000), undefined)
  t.equal(known.ended('a', false, 3000, 3000), 'tripped')
})

t.test('an outcome that says nothing about the endpoint counts for nothing', async (t) => {
  const fairness = new Fairness(WINDOWS)
  for (let i = 0; i < 20; i++) {
    begin(fairness, 'a', 1)
    fairness.ended('a', null, 0, 0)
  }
  t.same(fairness.tripped(), [])
})

t.test('jobs without a group have no cap', async (t) => {
  const fairness = new Fairness(WINDOWS)
  for (let i = 0; i < 500; i++) t.ok(fairness.admit(null, 'fresh', 0))
  t.equal(fairness.allow('fresh', ROOM, 0).limit, ROOM)
  t.equal(fairness.ended(null, false, 1, 0), undefined)
})

t.test('the smallest windows leave room for one', async (t) => {
  const fairness = new Fairness({ fresh: 1, slow: 1 })
  t.equal(begin(fairness, 'a', 2), 1)
  t.same(fairness.allow('slow', 1, 100), { limit: 1, passedOver: [], capped: ['a'] })
})

t.test('ten thousand endpoints are remembered, and no more', async (t) => {
  const fairness = new Fairness(WINDOWS)
  for (let i = 0; i < 10_100; i++) {
    fairness.admit(`endpoint ${i}`, 'fresh', 0)
    fairness.ended(`endpoint ${i}`, true, 1, 0)
  }
  t.equal(fairness.size, 10_000)
})
