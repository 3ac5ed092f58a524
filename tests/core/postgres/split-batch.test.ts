import t from 'tap'
import { splitOnError } from '../../../packages/core/src/postgres/split-batch.ts'

const batch = ['a', 'b', 'bad', 'c', 'd']

t.test('a batch that succeeds is run once', async (t) => {
  const runs: string[][] = []
  const result = await splitOnError(batch, async (items) => runs.push(items))
  t.strictSame(result, { parts: [{ items: batch, result: 1 }], failed: [] })
  t.strictSame(runs, [batch])
})

t.test('an item that makes its batch fail fails alone', async (t) => {
  const error = new Error('refused')
  const { parts, failed } = await splitOnError(batch, async (items) => {
    if (items.includes('bad')) throw error
  })
  t.strictSame(
    parts.flatMap(({ items }) => items),
    ['a', 'b', 'c', 'd'],
  )
  t.strictSame(failed, [{ items: ['bad'], error }])
})

t.test('a batch without a connection is not split', async (t) => {
  const gone = Object.assign(new Error('gone'), { code: '57P01' })
  let runs = 0
  const { parts, failed } = await splitOnError(batch, async () => {
    runs++
    if (runs === 1) throw new Error('refused as a whole')
    if (runs === 3) throw gone
  })
  t.equal(runs, 3)
  t.strictSame(
    parts.flatMap(({ items }) => items),
    ['a', 'b'],
  )
  t.strictSame(failed, [{ items: ['bad', 'c', 'd'], error: gone }])
})
