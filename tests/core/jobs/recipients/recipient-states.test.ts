import t from 'tap'
import { RecipientStates } from '../../../../packages/core/src/jobs/recipients/recipient-states.ts'
import { recipientRow as row } from './recipient-row.ts'

const open = (recipient: string, state: Parameters<typeof row>[1] = {}) =>
  row(recipient, { circuitOpen: true, ...state })

const namesOf = (claimable: { recipient: string }[]) => claimable.map(({ recipient }) => recipient)

t.test('the jobs of a held recipient go aside, and come back when it is released', async (t) => {
  const states = new RecipientStates()
  const seen = () => [[...states.inLanes], [...states.back], namesOf(states.claimable(0))]
  states.apply([row('a', { held: true })], true)
  t.same(seen(), [['a'], [], []])
  states.areAside(['a', 'unknown'])
  t.same(seen(), [[], [], []])
  states.apply([row('a', { held: true })], true)
  t.same(seen(), [[], [], []], 'reading the table again changes nothing')
  states.apply([row('a', { changedBy: 'then' })], true)
  t.same(seen(), [[], ['a'], []], 'released, it goes on')
  states.apply([row('a', { held: true, changedBy: 'again' })], true)
  t.same(seen(), [['a'], [], []], 'held anew, its jobs are looked for anew')
  t.same(
    ['a', 'unknown'].map((recipient) => states.belongsAside(recipient)),
    [true, false],
  )
})

t.test('jobs of a recipient with an open circuit go aside, and are claimed', async (t) => {
  const states = new RecipientStates()
  states.apply([row('a', { circuitOpen: true }), row('b', { circuitOpen: true, held: true })], true)
  t.same([...states.inLanes], ['a', 'b'])
  t.match(states.claimable(0), [{ recipient: 'a', isOpen: true }])
})

t.test('an order whose attempt runs here is left out until that has ended', async (t) => {
  const states = new RecipientStates()
  const rows = [
    row('a', { restricted: true, ordered: true }),
    row('b', { restricted: true, maxInFlight: 2 }),
  ]
  t.equal(states.haveOrder, false)
  states.apply(rows, true)
  t.equal(states.haveOrder, true)
  const claimed = (hasMore: boolean) => {
    states.claimBegins(['a'])
    states.claimEnded({ recipient: 'a', isTold: true, isBusy: true, hasMore }, 0, true)
    states.began('a')
  }
  claimed(true)
  states.began('b')
  states.apply(rows, true)
  t.same([states.claimsNext('a'), states.claimsNext('b')], [true, true])
  t.same(namesOf(states.claimable(5000)), ['b'])
  t.equal(states.done('a'), true, 'more wait')
  t.same(namesOf(states.claimable(0)), ['a', 'b'])

  claimed(false)
  t.equal(states.done('a'), false, 'none waits')
  t.same(namesOf(states.claimable(0)), ['b'])
  t.equal(states.haveNew(['a']), true)
  t.same(namesOf(states.claimable(0)), ['a', 'b'], 'no attempt is under way')

  claimed(false)
  states.haveNew(['a'])
  t.same(namesOf(states.claimable(5000)), ['b'], 'it waits for the attempt')
  t.equal(states.done('a'), true)

  claimed(false)
  states.ready(['a'])
  t.same(namesOf(states.claimable(0)), ['a', 'b'], 'the attempt has failed, and is settled')
  t.equal(states.done('b'), true, 'a cap has room again')
  t.equal(states.done('c'), false)
  states.apply([row('b', { restricted: true })], true)
  t.equal(states.haveOrder, false)
})

t.test(
  'new jobs of an ordered recipient are left to the process that makes its attempt',
  async (t) => {
    const states = new RecipientStates()
    const rows = [row('a', { restricted: true, ordered: true }), row('b', { restricted: true })]
    states.apply(rows, true)
    const busy = (recipient: string) => {
      states.claimBegins([recipient])
      return states.claimEnded({ recipient, isTold: true, isBusy: true }, 0, true)
    }
    t.same([busy('a'), busy('b')], [true, true])
    t.same(namesOf(states.claimable(0)), [])
    t.equal(states.haveNew(['a', 'b']), true)
    t.same(namesOf(states.claimable(0)), ['b'], 'a cap may have room by now')
    states.apply(rows, true)
    t.equal(states.haveNew(['a', 'c']), false, 'one is not known')
    t.same(namesOf(states.claimable(0)), ['b'])
    t.same(namesOf(states.claimable(500)), ['b', 'a'].toSorted(), 'it looks again soon')
    states.ready(['a'])
    t.same(namesOf(states.claimable(0)), ['a', 'b'])

    states.claimBegins(['a'])
    states.haveNew(['a'])
    const none = { recipient: 'a', isTold: false, isBusy: false }
    t.equal(states.claimEnded(none, 0, true), false, 'they may be newer than the result')
  },
)

t.test('recipients take turns, also when the table is read again', async (t) => {
  const states = new RecipientStates()
  const rows = ['a', 'b', 'c'].map((recipient) => open(recipient))
  states.apply(rows, true)
  states.claimed('a')
  states.claimed('unknown')
  t.same(namesOf(states.claimable(0)), ['b', 'c', 'a'])
  states.apply([...rows, open('d')], true)
  t.same(namesOf(states.claimable(0)), ['b', 'c', 'a', 'd'])
  states.apply([open('c')], true)
  t.same(namesOf(states.claimable(0)), ['c'])
  t.equal(states.size, 1)
})

t.test('a recipient that got jobs to claim is claimed at once', async (t) => {
  const states = new RecipientStates()
  states.apply([open('a')], true)
  states.empty('a', 0)
  t.same(namesOf(states.claimable(400)), [])
  t.equal(states.haveNew(['a']), true)
  t.same(namesOf(states.claimable(400)), ['a'])
})

t.test('a recipient without due jobs is claimed at growing intervals', async (t) => {
  const states = new RecipientStates()
  states.apply([open('a')], true)
  const pauses: number[] = []
  let now = 0
  for (let i = 0; i < 4; i++) {
    states.empty('a', now)
    const from = states.claimableFrom()
    t.same(states.claimable(from - 1), [])
    pauses.push(from - now)
    now = from
  }
  t.same(pauses, [500, 1000, 1000, 1000])
  states.apply([open('a')], true)
  states.empty('a', now)
  t.same(states.claimable(now), [], 'also when the table is read again')
  states.apply([open('a', { changedBy: 'again' })], true)
  t.same(namesOf(states.claimable(now)), ['a'], 'but at once when it has changed')
  states.empty('unknown', 0)
})

const restricted = (recipient: string, state: Parameters<typeof row>[1] = {}) =>
  row(recipient, { restricted: true, rateSeconds: 2, ...state })

const RESULTS: [string, object, number[]][] = [
  ['there may be more at once', { hasMore: true }, [0, 0]],
  ['the rate says when', { isBusy: false, waitMs: 700 }, [700, 700]],
  ['not before long: it is asked all the same', { waitMs: 3_600_000 }, [8000, 8000]],
  ['a due job is locked by others', { waitMs: 0 }, [50, 50, 50]],
  ['nothing waits', { hasMore: false, waitMs: null }, [500, 1000, 2000, 4000, 8000, 8000]],
  ['attempts run elsewhere', { isBusy: true, waitMs: null }, [500, 1000, 1000]],
  ['attempts run elsewhere, and the rate is used up', { isBusy: true, waitMs: 5000 }, [1000]],
]
for (const [name, result, pauses] of RESULTS) {
  t.test(`the next claim of a restricted recipient: ${name}`, async (t) => {
    const states = new RecipientStates()
    states.apply([restricted('a')], true)
    const found: number[] = []
    for (let now = 0; found.length < pauses.length; now = states.claimableFrom()) {
      states.claimBegins(['a', 'unknown'])
      states.claimEnded({ recipient: 'a', isTold: true, isBusy: null, ...result }, now, true)
      found.push(states.claimableFrom() === 0 ? 0 : states.claimableFrom() - now)
    }
    t.same(found, pauses)
  })
}

t.test('a process without notifications claims restricted recipients more often', async (t) => {
  const states = new RecipientStates()
  states.apply([restricted('a')], true)
  states.claimBegins(['a'])
  states.claimEnded({ recipient: 'a', isTold: true, isBusy: false, waitMs: 60_000 }, 0, false)
  t.equal(states.claimableFrom(), 500)
})

t.test('a notification about a restricted recipient overrides an older result', async (t) => {
  const states = new RecipientStates()
  states.apply([restricted('a'), open('b')], true)
  const empty = { recipient: 'a', isTold: true, isBusy: false, waitMs: null }
  states.claimBegins(['a'])
  states.ready(['a'])
  states.claimEnded(empty, 0, true)
  t.equal(states.claimableFrom(), 0, 'a job came while it was being asked for')
  states.claimBegins(['a'])
  states.claimEnded(empty, 1, true)
  states.claimEnded({ ...empty, recipient: 'unknown' }, 1, true)
  t.same(namesOf(states.claimable(1)), ['b'])
  t.equal(states.readyFrom('a', 600), false)
  t.equal(states.readyFrom('a', 300), true)
  t.same(namesOf(states.claimable(300)), ['a', 'b'])
  states.claimBegins(['a'])
  states.claimEnded(empty, 300, true)
  states.allReady()
  t.same(namesOf(states.claimable(300)), ['a', 'b'])
  states.ready(['new'])
  t.equal(states.readyFrom('new', 0), false)
})

t.test('an attempt counts for its rate’s span, and while it may be on its way', async (t) => {
  const states = new RecipientStates()
  states.apply(
    [restricted('a'), restricted('b', { rateSeconds: 1 }), restricted('c', { rateSeconds: null })],
    true,
  )
  t.same(
    ['a', 'b', 'c', 'unknown'].map((recipient) => states.spanMsOf(recipient)),
    [3000, 1500, 0, 0],
  )
  t.same(
    ['a', 'unknown'].map((recipient) => states.isRestricted(recipient)),
    [true, false],
  )
})

t.test('what is to be claimed here is told to no other process', async (t) => {
  const states = new RecipientStates()
  states.apply([row('a', { restricted: true, rateSeconds: 1 }), row('b')], true)
  t.equal(states.claimsNext('a'), true, 'a claim is due')
  states.claimBegins(['a'])
  t.equal(states.claimsNext('a'), true, 'a claim is under way')
  states.claimEnded({ recipient: 'a', isTold: true, isBusy: false }, 0, true)
  t.equal(states.claimsNext('a'), false, 'nothing waits, as far as this process knows')
  t.equal(states.done('a'), false, 'the end of an attempt frees no allowance of a rate')
  t.equal(states.claimsNext('a'), false)
  states.haveNew(['a'])
  t.equal(states.claimsNext('a'), true)
  t.same(
    ['b', 'c'].map((recipient) => states.claimsNext(recipient)),
    [false, false],
  )
})
