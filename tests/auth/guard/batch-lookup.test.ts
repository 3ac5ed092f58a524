import t from 'tap'
import { batchLookup } from '../../../packages/auth/src/guard/batch-lookup.ts'

/** Finds every key but `none`, and remembers what it was asked for. */
function makeFind() {
  const asked: string[][] = []
  const find = batchLookup(async (keys) => {
    asked.push(keys)
    return new Map(keys.filter((key) => key !== 'none').map((key) => [key, `found ${key}`]))
  })
  return { asked, find }
}

t.test('lookups of the same moment share one query', async (t) => {
  const { asked, find } = makeFind()
  t.same(await Promise.all([find('a'), find('none'), find('b')]), ['found a', undefined, 'found b'])
  t.same(asked, [['a', 'none', 'b']])
  t.equal(await find('c'), 'found c')
  t.same(asked[1], ['c'], 'a later one has its own')
})

t.test('a batch of lookups has at most two hundred keys', async (t) => {
  const { asked, find } = makeFind()
  const keys = Array.from({ length: 450 }, (_, n) => String(n))
  const found = await Promise.all(keys.map(find))
  t.same(
    found,
    keys.map((key) => `found ${key}`),
  )
  t.same(
    asked.map(({ length }) => length),
    [200, 200, 50],
  )
})

t.test('a query that fails fails all lookups that shared it, and no others', async (t) => {
  let fails = true
  const find = batchLookup(async (keys) => {
    if (fails) throw new Error('Postgres is away')
    return new Map(keys.map((key) => [key, key]))
  })
  const answers = await Promise.allSettled([find('a'), find('b')])
  t.same(
    answers.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  fails = false
  t.equal(await find('a'), 'a')
})
