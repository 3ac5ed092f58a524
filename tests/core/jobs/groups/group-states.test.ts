import t from 'tap'
import { GroupStates } from '../../../../packages/core/src/jobs/groups/group-states.ts'
import type { JobGroup } from '../../../../packages/core/src/jobs/groups/groups-table.ts'

const row = (group: string, state: Partial<JobGroup> = {}): JobGroup => ({
  group,
  held: false,
  circuitOpen: false,
  parkedAt: 'once',
  ...state,
})

const namesOf = (claimable: { group: string }[]) => claimable.map(({ group }) => group)

t.test('a held group is passed over until its jobs are parked, and never claimed', async (t) => {
  const states = new GroupStates()
  states.replace([row('a', { held: true })])
  t.same([states.excluded(), states.toPark(), states.claimable(0)], [['a'], ['a'], []])
  states.parked(['a', 'unknown'])
  t.same([states.excluded(), states.toPark()], [[], []])
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
  t.same(states.excluded(), ['a', 'b'])
  t.same(states.open(), ['a'])
  t.same(states.claimable(0), [{ group: 'a', isOpen: true }])
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

t.test('a group of which nothing is due is asked less and less often', async (t) => {
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
