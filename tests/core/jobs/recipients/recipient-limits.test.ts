import t from 'tap'
import { RecipientLimits } from '../../../../packages/core/src/jobs/recipients/recipient-limits.ts'
import type { Lane } from '../../../../packages/core/src/jobs/job.ts'

const WINDOWS = { first: 192, retry: 64 }
const ROOM = 200

/** How many of `jobs` jobs of a recipient may begin at `now`. */
function begin(
  fairness: RecipientLimits,
  name: string,
  jobs: number,
  now = 0,
  lane: Lane = 'first',
) {
  let admitted = 0
  for (let i = 0; i < jobs; i++) if (fairness.admit(name, lane, now)) admitted++
  return admitted
}

function answer(
  fairness: RecipientLimits,
  name: string,
  answers: number,
  tookMs: number,
  now: number,
) {
  for (let i = 0; i < answers; i++) fairness.ended(name, true, tookMs, now)
}

/** A recipient that has answered a few times, and has nothing in flight. */
function withAnswers(tookMs: number): RecipientLimits {
  const fairness = new RecipientLimits(WINDOWS)
  for (let i = 0; i < 10; i++) fairness.begin('a', 0)
  answer(fairness, 'a', 10, tookMs, tookMs)
  return fairness
}

t.test(
  'a fetch brings as many jobs of an idle recipient as of one that has never answered',
  async (t) => {
    const fairness = new RecipientLimits(WINDOWS)
    t.same(fairness.allow('first', ROOM, 0), { share: ROOM, each: 24, caps: {} })
    t.same(fairness.allow('first', 8, 0), { share: 8, each: 8, caps: {} })
  },
)

t.test('a recipient that has never answered gets an eighth of its lane', async (t) => {
  const fairness = new RecipientLimits(WINDOWS)
  t.equal(begin(fairness, 'a', 100), 24)
  t.same(fairness.allow('first', ROOM, 1).caps, { a: 0 })
  t.same(fairness.allow('first', ROOM, 1, true).caps, { a: 0 }, 'also where nobody else waits')
})

t.test(
  'many recipients that have never answered get less each, and a hundred leave room',
  async (t) => {
    const fairness = new RecipientLimits(WINDOWS)
    const places = Array.from({ length: 100 }, (_, n) => begin(fairness, `recipient ${n}`, 100))
    t.same(places.slice(0, 3), [24, 24, 4])
    t.equal(places.at(-1), 1)
    const sum = places.reduce((total, count) => total + count, 0)
    t.ok(sum < WINDOWS.first, `${sum} of ${WINDOWS.first}`)
    for (let i = 0; i < 24; i++) fairness.ended('recipient 0', true, 5, 5)
    t.equal(begin(fairness, 'recipient 0', 200, 6), 144, 'one that answers is known')
  },
)

t.test('a recipient that answers quickly gets three quarters', async (t) => {
  const fairness = withAnswers(2)
  t.equal(begin(fairness, 'a', 200, 3), 144)

  t.test('a fetch passes a quick recipient that is at its cap', async (t) => {
    t.same(fairness.allow('first', ROOM, 4).caps, { a: 0 })
    answer(fairness, 'a', 35, 2, 5)
    t.same(
      fairness.allow('first', ROOM, 6).caps,
      { a: 0 },
      'until a quarter of its places are free',
    )
    t.notOk(fairness.hasRoom('a', 'first', 6))
    answer(fairness, 'a', 1, 2, 6)
    t.same(fairness.allow('first', ROOM, 6).caps, { a: 36 })
    t.ok(fairness.hasRoom('a', 'first', 6))
    t.same(fairness.allow('first', 8, 6), { share: 8, each: 8, caps: {} }, 'its share of a turn')
  })
  t.test(
    'a quick recipient keeps its share until nothing has been heard of it for a while',
    async (t) => {
      t.same(fairness.allow('first', ROOM, 60).caps, { a: 0 })
    },
  )
})

t.test('a recipient that answers slowly gets a quarter', async (t) => {
  const fairness = withAnswers(300)
  t.equal(begin(fairness, 'a', 200, 301), 48)
  t.same(fairness.allow('first', ROOM, 302).caps, { a: 0 })

  t.test('a slow recipient gets three quarters where no other recipient waits', async (t) => {
    t.same(fairness.allow('first', ROOM, 302, true).caps, { a: 144 - 48 })
    t.ok(fairness.admit('a', 'first', 302, true))
  })
  t.test('a slow recipient gets an eighth when it has stopped answering', async (t) => {
    t.same(fairness.allow('first', ROOM, 3000, true).caps, { a: 0 })
  })
})

t.test('ten failures in a row open the circuit of a recipient', async (t) => {
  const fairness = new RecipientLimits(WINDOWS)
  for (let i = 0; i < 24; i++) fairness.begin('a', 0)
  for (let i = 0; i < 9; i++) t.equal(fairness.ended('a', false, 1, 0), undefined)
  t.equal(fairness.ended('a', true, 1, 0), undefined, 'a success begins the count anew')
  for (let i = 0; i < 9; i++) t.equal(fairness.ended('a', false, 1, 0), undefined)
  t.equal(fairness.ended('a', false, 1, 0), 'opened')
  t.ok(fairness.isOpen('a'))
  t.equal(fairness.openInFlight(), 4)

  t.test('no fetch returns jobs of a recipient with an open circuit', async (t) => {
    for (const lane of ['first', 'retry'] as const) {
      t.same(fairness.allow(lane, ROOM, 0).caps, { a: 0 })
      t.equal(fairness.capOf('a', lane, 0), 0)
    }
    t.same(fairness.open(), ['a'])
  })
  t.test('a circuit stays open while nothing of its recipient is in flight', async (t) => {
    for (let i = 0; i < 4; i++) fairness.ended('a', false, 1, 0)
    t.ok(fairness.isOpen('a'))
    t.same(fairness.open(), ['a'])
    t.equal(fairness.openInFlight(), 0)
  })
  t.test('one success closes the circuit of a recipient', async (t) => {
    fairness.begin('a', 0)
    t.equal(fairness.ended('a', true, 1, 0), 'closed')
    t.notOk(fairness.isOpen('a'))
  })
})

t.test('a circuit that one process has opened is open in the others', async (t) => {
  const fairness = new RecipientLimits(WINDOWS)
  fairness.setCircuit('a', false)
  t.equal(fairness.size, 0)
  fairness.setCircuit('a', true)
  t.ok(fairness.isOpen('a'))
  t.same(fairness.open(), ['a'])
  fairness.setCircuit('a', false)
  t.notOk(fairness.isOpen('a'))
  fairness.begin('a', 0)
  t.equal(fairness.ended('a', false, 1, 0), undefined, 'its failures are counted anew')
})

t.test('slow failures open a circuit sooner', async (t) => {
  const stranger = new RecipientLimits(WINDOWS)
  begin(stranger, 'a', 2)
  t.equal(stranger.ended('a', false, 3000, 3000), 'opened', 'at once where it has never answered')

  const known = withAnswers(20)
  begin(known, 'a', 3, 21)
  t.equal(known.ended('a', false, 3000, 3000), undefined)
  t.equal(known.ended('a', false, 3000, 3000), 'opened')
})

t.test('an outcome that is not the endpoint’s fault does not change its circuit', async (t) => {
  const fairness = new RecipientLimits(WINDOWS)
  for (let i = 0; i < 20; i++) {
    begin(fairness, 'a', 1)
    fairness.ended('a', null, 0, 0)
  }
  t.notOk(fairness.isOpen('a'))
})

t.test('jobs without a recipient have no cap', async (t) => {
  const fairness = new RecipientLimits(WINDOWS)
  for (let i = 0; i < 500; i++) t.ok(fairness.admit(null, 'first', 0))
  t.same(fairness.allow('first', ROOM, 0).caps, {})
})

t.test('each recipient may have one slot in the smallest windows', async (t) => {
  const fairness = new RecipientLimits({ first: 1, retry: 1 })
  t.equal(begin(fairness, 'a', 2), 1)
  t.same(fairness.allow('retry', 1, 100), { share: 1, each: 1, caps: { a: 0 } })
})

t.test('ten thousand recipients are remembered, and no more', async (t) => {
  const fairness = new RecipientLimits(WINDOWS)
  for (let i = 0; i < 10_100; i++) {
    fairness.admit(`endpoint ${i}`, 'first', 0)
    fairness.ended(`endpoint ${i}`, true, 1, 0)
  }
  t.equal(fairness.size, 10_000)
})
