import t from 'tap'
import { Unavailable } from '@svc/core'
import {
  asBusy,
  isContention,
  repeatedOnConflict,
  repeatedOnDeadlock,
} from '../../../packages/core/src/postgres/contention.ts'

const failed = (code: string) => Object.assign(new Error('failed'), { code })

t.test(
  'a lock, a deadlock, a conflict and a statement that took too long are contention',
  async (t) => {
    for (const code of ['57014', '55P03', '40P01', '40001']) {
      t.ok(isContention(failed(code)), code)
      t.ok(isContention(new Unavailable({ cause: failed(code) })), `the cause is ${code}`)
      t.match(asBusy(failed(code)), { code: 'SVC_UNAVAILABLE', statusCode: 503, message: /busy/ })
    }
    for (const other of [failed('23505'), failed('ECONNRESET'), new Error('no'), 'no', null]) {
      t.notOk(isContention(other))
      t.equal(asBusy(other), other)
    }
    const away = new Unavailable({ cause: failed('ECONNRESET') })
    t.notOk(isContention(away))
    t.equal(asBusy(away), away)
  },
)

let runs = 0
t.beforeEach(() => void (runs = 0))

/** Fails with this code so many times, then succeeds. */
const ends = (code: string, times: number) => async () => {
  if (runs++ < times) throw failed(code)
  return 'done'
}

t.test('a transaction that is ended in a deadlock runs three times at most', async (t) => {
  t.equal(await repeatedOnDeadlock(ends('40P01', 2)), 'done')
  t.equal(runs, 3)
  runs = 0
  await t.rejects(repeatedOnDeadlock(ends('40P01', 9)), { code: '40P01' })
  t.equal(runs, 3)
  runs = 0
  await t.rejects(repeatedOnDeadlock(ends('55P03', 1)), { code: '55P03' })
  t.equal(runs, 1)
})

t.test('a statement that met a change by another one is repeated', async (t) => {
  t.equal(await repeatedOnConflict(ends('40001', 20)), 'done')
  t.equal(runs, 21)
  runs = 0
  await t.rejects(repeatedOnConflict(ends('40001', 99)), { code: '40001' })
  t.equal(runs, 21)
  runs = 0
  await t.rejects(repeatedOnConflict(ends('40P01', 1)), { code: '40P01' })
  t.equal(runs, 1)
})
