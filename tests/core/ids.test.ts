import t from 'tap'
import { isUuid, uuidv7 } from '../../packages/core/src/ids.ts'

t.test('ids of one process are in the order in which they were made', async (t) => {
  const ids = Array.from({ length: 50_000 }, () => uuidv7())
  t.same(ids, ids.toSorted())
  t.equal(new Set(ids).size, ids.length)
  t.ok(
    ids.every((id) =>
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id),
    ),
  )
})

t.test('a UUIDv7 begins with the time in milliseconds', async (t) => {
  const later = Date.now() + 60_000
  t.equal(Number.parseInt(uuidv7(later).replace('-', '').slice(0, 12), 16), later)
})

t.test('a clock that is set back changes nothing about the order', async (t) => {
  const first = uuidv7(Date.now() + 120_000)
  t.ok(uuidv7(Date.now()) > first)
})

t.test('only the text form of a UUID is one', async (t) => {
  t.ok(isUuid('01A1FA83-228A-7142-901A-4BCEF6089475'))
  for (const other of ['', '01a1fa83', `${uuidv7()}0`, `{${uuidv7()}}`, null, 5]) {
    t.notOk(isUuid(other), String(other))
  }
})
