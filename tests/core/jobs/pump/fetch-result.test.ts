import t from 'tap'
import {
  fetchResult,
  type FetchResult,
} from '../../../../packages/core/src/jobs/pump/fetch-result.ts'

const CASES: [limit: number, count: number, capped: string[], result: FetchResult][] = [
  [0, 0, [], 'no room'],
  [0, 0, ['a'], 'no room'],
  [10, 10, [], 'full'],
  [10, 10, ['a'], 'full'],
  [10, 9, ['a'], 'capped'],
  [10, 0, ['a'], 'capped'],
  [10, 9, [], 'drained'],
  [10, 0, [], 'drained'],
]
for (const [limit, count, capped, result] of CASES) {
  t.test(
    `a fetch of ${count} of ${limit} with ${capped.length} groups capped is ${result}`,
    (t) => {
      t.equal(fetchResult({ limit, count, capped }), result)
      t.end()
    },
  )
}
