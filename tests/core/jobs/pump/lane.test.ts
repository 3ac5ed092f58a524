import t from 'tap'
import { lastOfLap, roomOfFetch } from '../../../../packages/core/src/jobs/pump/lane.ts'
import { Slots } from '../../../../packages/core/src/jobs/pump/slots.ts'

const CASES: [recipients: string[], after: string, last: string | undefined][] = [
  [['b', 'c', 'a'], '', 'c'],
  [['c', 'd'], 'b', 'd'],
  [['c', 'a', 'b'], 'b', 'b'],
  [['d', 'a'], 'c', 'a'],
  [['b'], 'b', 'b'],
  [[], 'b', undefined],
]
for (const [recipients, after, last] of CASES) {
  t.test(`a lap after "${after}" with ${recipients.join()} ends at ${last}`, (t) => {
    t.equal(lastOfLap(recipients, after), last)
    t.end()
  })
}

for (const [concurrency, needsRoom, left] of [
  [256, false, 48],
  [256, true, 0],
  [1, false, 0],
] as const) {
  t.test(
    `during a fetch a publish may claim ${left} of ${concurrency} slots${needsRoom ? ' where jobs wait for room' : ''}`,
    (t) => {
      const slots = new Slots(concurrency)
      slots.reserve('first', roomOfFetch(slots.free('first'), needsRoom))
      t.equal(slots.free('first'), left)
      t.end()
    },
  )
}
