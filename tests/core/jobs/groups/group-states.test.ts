import t from 'tap'
import { GroupStates } from '../../../../packages/core/src/jobs/groups/group-states.ts'
import { groupRow as row } from './group-row.ts'

const namesOf = (claimable: { group: string }[]) => claimable.map(({ group }) => group)

t.test('a held group is passed over until its jobs are parked, and never claimed', async (t) => {
  const states = new GroupStates()
  states.replace([row('a', { held: true })])
  t.same([states.excluded().groups, states.toPark(), states.claimable(0)], [['a'], ['a'], []])
  states.parked(['a', 'unknown'])
  t.same([states.excluded().groups, states.toPark()], [[], []])
  states.replace([row('a', { held: true })])
  t.same(states.toPark(), [], 'reading the table again changes nothing')
  states.replace([row('a')])
  t.same(namesOf(states.claimable(0)), ['a'], 'released, it goes on')
  states.replace([row('a', { held: true })])
  t.same(states.toPark(), ['a'], 'held anew, it is walked anew')
})

t.test('a group with an open circuit is passed over and claimed', async (t) => {
  const states = new GroupStates()
  states.replace([row('a', { circuitOpen: true }), row('b', { circuitOpen: true, held: true })])
  t.same(states.excluded().groups, ['a', 'b'])
  t.same(states.open(), ['a', 'b'])
  t.match(states.claimable(0), [{ group: 'a', isOpen: true }])
})

t.test('a fetch names open circuits up to 200, and else leaves them to the table', async (t) => {
  const states = new GroupStates()
  const open = Array.from({ length: 200 }, (_, n) => row(`${n}`, { circuitOpen: true }))
  const held = row('held', { held: true, circuitOpen: true })
  states.replace(open)
  t.equal(states.excluded().groups.length, 200)
  t.notOk(states.excluded().withOpenCircuits)
  states.replace([held, ...open])
  t.same(states.excluded(), { groups: ['held'], withOpenCircuits: true })
  states.parked(['held'])
  t.same(states.excluded(), { groups: [], withOpenCircuits: true })
  states.replace([row('a', { circuitOpen: true })])
  t.same(states.excluded(), { groups: ['a'], withOpenCircuits: false })
})

t.test('a group whose next job a settlement claims is left out meanwhile', async (t) => {
  const states = new GroupStates()
  states.replace([row('a', { restricted: true, ordered: true }), row('b')])
  t.same(
    [states.isOrdered('a'), states.isOrdered('b'), states.isOrdered('c')],
    [true, false, false],
  )
  states.awaitNext('a')
  states.replace([row('a', { restricted: true, ordered: true }), row('b')])
  t.same(namesOf(states.claimable(0)), ['b'])
  states.claimEnded({ group: 'b', isTold: false, isBusy: false }, 0, true)
  states.claimBegins(['b'])
  states.claimEnded({ group: 'b', isTold: false, isBusy: false }, 1000, true)
  t.equal(states.claimableFrom(), 1500)
  states.nextDecided('a')
  t.same(namesOf(states.claimable(0)), ['a'])
})

t.test('new jobs of an ordered group are left to the process that makes its attempt', async (t) => {
  const states = new GroupStates()
  const rows = [row('a', { restricted: true, ordered: true }), row('b', { restricted: true })]
  states.replace(rows)
  const busy = (group: string) => {
    states.claimBegins([group])
    return states.claimEnded({ group, isTold: true, isBusy: true }, 0, true)
  }
  t.same([busy('a'), busy('b')], [true, true])
  t.same(namesOf(states.claimable(0)), [])
  t.equal(states.haveNew(['a', 'b']), true)
  t.same(namesOf(states.claimable(0)), ['b'], 'a cap may have room by now')
  states.replace(rows)
  t.equal(states.haveNew(['a', 'c']), false, 'one is not known')
  t.same(namesOf(states.claimable(0)), ['b'])
  t.same(namesOf(states.claimable(500)), ['b', 'a'].toSorted(), 'it looks again soon')
  states.ready(['a'])
  t.same(namesOf(states.claimable(0)), ['a', 'b'])

  states.claimBegins(['a'])
  states.haveNew(['a'])
  const none = { group: 'a', isTold: false, isBusy: false }
  t.equal(states.claimEnded(none, 0, true), false, 'they may be newer than the result')
})

t.test('groups take turns, also when the table is read again', async (t) => {
  const states = new GroupStates()
  const rows = ['a', 'b', 'c'].map((group) => row(group))
  states.replace(rows)
  states.claimed('a')
  states.claimed('unknown')
  t.same(namesOf(states.claimable(0)), ['b', 'c', 'a'])
  states.replace([...rows, row('d')])
  t.same(namesOf(states.claimable(0)), ['b', 'c', 'a', 'd'])
  states.replace([row('c')])
  t.same(namesOf(states.claimable(0)), ['c'])
  t.equal(states.size, 1)
})

t.test('a group that got jobs to claim is claimed at once', async (t) => {
  const states = new GroupStates()
  states.replace([row('a')])
  states.empty('a', 0)
  t.same(namesOf(states.claimable(400)), [])
  t.equal(states.haveNew(['a']), true)
  t.same(namesOf(states.claimable(400)), ['a'])
})

t.test('a group without due jobs is claimed at growing intervals', async (t) => {
  const states = new GroupStates()
  states.replace([row('a')])
  const pauses: number[] = []
  let now = 0
  for (let i = 0; i < 7; i++) {
    t.equal(states.empty('a', now), i >= 4, 'its row may go after a while')
    const from = states.claimableFrom()
    t.same(states.claimable(from - 1), [])
    pauses.push(from - now)
    now = from
  }
  t.same(pauses, [500, 1000, 2000, 4000, 8000, 8000, 8000])
  states.replace([row('a')])
  t.same(states.claimable(now - 1), [], 'also when the table is read again')
  states.replace([row('a', { parkedAt: 'again' })])
  t.same(namesOf(states.claimable(now - 1)), ['a'], 'but at once when jobs of it were parked')
  t.notOk(states.empty('unknown', 0))
})

const restricted = (group: string, state: Parameters<typeof row>[1] = {}) =>
  row(group, { restricted: true, rateSeconds: 2, ...state })

t.test('jobs of a restricted group are not claimed before all of them are parked', async (t) => {
  const states = new GroupStates()
  states.replace([restricted('a', { unparkedSince: 'then' }), restricted('b')])
  t.same([states.excluded().groups, states.toPark()], [['a'], ['a']])
  t.same(namesOf(states.claimable(0)), ['b'])
  states.parked(['a', 'b'])
  t.same(states.unparked(['a', 'b', 'unknown']), [{ group: 'a', since: 'then' }])
  t.same(states.toPark(), ['a'], 'until the table says so')
  states.replace([restricted('a'), restricted('b')])
  t.same([states.excluded().groups, states.toPark()], [[], []])
  t.same(namesOf(states.claimable(0)), ['a', 'b'])
})

const RESULTS: [string, object, number[]][] = [
  ['there may be more at once', { hasMore: true }, [0, 0]],
  ['the rate says when', { isBusy: false, waitMs: 700 }, [700, 700]],
  ['not before long: it is asked all the same', { waitMs: 3_600_000 }, [8000, 8000]],
  ['a due job is locked by others', { waitMs: 0 }, [20, 40, 80, 160, 320, 500, 500]],
  ['nothing waits', { hasMore: false, waitMs: null }, [500, 1000, 2000, 4000, 8000, 8000]],
  ['attempts run elsewhere', { isBusy: true, waitMs: null }, [500, 1000, 1000]],
  ['attempts run elsewhere, and the rate is used up', { isBusy: true, waitMs: 5000 }, [1000]],
]
for (const [name, result, pauses] of RESULTS) {
  t.test(`the next claim of a restricted group: ${name}`, async (t) => {
    const states = new GroupStates()
    states.replace([restricted('a')])
    const found: number[] = []
    for (let now = 0; found.length < pauses.length; now = states.claimableFrom()) {
      states.claimBegins(['a', 'unknown'])
      states.claimEnded({ group: 'a', isTold: true, isBusy: null, ...result }, now, true)
      found.push(states.claimableFrom() === 0 ? 0 : states.claimableFrom() - now)
    }
    t.same(found, pauses)
  })
}

t.test('a process without notifications claims restricted groups more often', async (t) => {
  const states = new GroupStates()
  states.replace([restricted('a')])
  states.claimBegins(['a'])
  states.claimEnded({ group: 'a', isTold: true, isBusy: false, waitMs: 60_000 }, 0, false)
  t.equal(states.claimableFrom(), 500)
})

t.test('a notification about a restricted group overrides an older result', async (t) => {
  const states = new GroupStates()
  states.replace([restricted('a'), row('b')])
  const empty = { group: 'a', isTold: true, isBusy: false, waitMs: null }
  states.claimBegins(['a'])
  states.ready(['a'])
  states.claimEnded(empty, 0, true)
  t.equal(states.claimableFrom(), 0, 'a job came while it was being asked for')
  states.claimBegins(['a'])
  states.claimEnded(empty, 1, true)
  states.claimEnded({ ...empty, group: 'unknown' }, 1, true)
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
  const states = new GroupStates()
  states.replace([
    restricted('a'),
    restricted('b', { rateSeconds: 1 }),
    restricted('c', { rateSeconds: null }),
  ])
  t.same(
    ['a', 'b', 'c', 'unknown'].map((group) => states.spanMsOf(group)),
    [3000, 1500, 0, 0],
  )
  t.same(
    ['a', 'unknown'].map((group) => states.isRestricted(group)),
    [true, false],
  )
})
