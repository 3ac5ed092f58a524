import t from 'tap'
import { lastOfLap } from '../../../../packages/core/src/jobs/pump/lane.ts'

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
