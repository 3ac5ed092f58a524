import t from 'tap'
import type { Db } from '@svc/core'
import { withAtMost } from '../../../../packages/auth/src/guard/keys/statements.ts'

/** A database whose answers the test gives one by one. */
function pending() {
  const running: { text: string; answer: () => void; fail: () => void }[] = []
  const db: Db = {
    query: (text) =>
      new Promise((resolve, reject) => {
        running.push({
          text,
          answer: () => resolve({ rows: [text] }),
          fail: () => reject(new Error('refused')),
        })
      }),
  }
  return { db, running, texts: () => running.map(({ text }) => text) }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

t.test(
  'a limited pool runs so many statements at once, and the others in their order',
  async (t) => {
    const { db, running, texts } = pending()
    const narrowed = withAtMost(db, 2, 60_000)
    const refused = narrowed.query('a')
    const answers = ['b', 'c', 'd'].map((text) => narrowed.query(text))
    await settle()
    t.same(texts(), ['a', 'b'])
    running[0]?.fail()
    await t.rejects(refused, { message: 'refused' })
    await settle()
    t.same(texts(), ['a', 'b', 'c'])
    running[1]?.answer()
    running[2]?.answer()
    await settle()
    running[3]?.answer()
    t.same(
      (await Promise.all(answers)).map(({ rows }) => rows[0]),
      ['b', 'c', 'd'],
    )
  },
)

t.test('a statement that has waited too long is refused, and takes no slot', async (t) => {
  const { db, running, texts } = pending()
  const narrowed = withAtMost(db, 1, 30)
  const first = narrowed.query('a')
  await t.rejects(narrowed.query('b'), { message: /no turn within 30 ms/ })
  running[0]?.answer()
  await first
  const third = narrowed.query('c')
  await settle()
  t.same(texts(), ['a', 'c'])
  running[1]?.answer()
  await third
})
