import t from 'tap'
import { ByteBudget } from '../../../../packages/webhooks/src/outbound/delivery/byte-budget.ts'

const never = new AbortController().signal

t.test('a payload that does not fit the budget waits until bytes are given back', async (t) => {
  const budget = new ByteBudget(100)
  const first = await budget.reserve('a', 60, never)
  let entered = false
  const second = budget.reserve('b', 50, never).then((hold) => {
    entered = true
    return hold
  })
  await new Promise(setImmediate)
  t.notOk(entered)
  first.release()
  first.release()
  const hold = await second
  t.equal(budget.used, 50)
  hold.release()
  t.equal(budget.used, 0)
})

t.test('a webhook may hold a quarter of the budget, or one payload', async (t) => {
  const budget = new ByteBudget(100)
  await budget.reserve('hangs', 20, never)
  const order: string[] = []
  const waits = budget.reserve('hangs', 20, never).then(() => order.push('hangs'))
  const hold = await budget.reserve('b', 70, never)
  order.push('b')
  hold.release()
  await new Promise(setImmediate)
  t.strictSame(order, ['b'])
  t.equal(budget.used, 20)
  t.ok(waits)
})

t.test('a payload that is larger than the budget goes alone', async (t) => {
  const budget = new ByteBudget(100)
  const hold = await budget.reserve('a', 500, never)
  t.equal(budget.used, 500)
  const next = budget.reserve('b', 1, never)
  hold.release()
  ;(await next).release()
})

t.test('an attempt that is aborted does not wait for the budget any longer', async (t) => {
  const budget = new ByteBudget(100)
  const hold = await budget.reserve('a', 100, never)
  const abort = new AbortController()
  const waiting = budget.reserve('b', 10, abort.signal)
  abort.abort(new Error('the process closes'))
  await t.rejects(waiting, { message: 'the process closes' })
  await t.rejects(budget.reserve('b', 10, abort.signal), { message: 'the process closes' })
  hold.release()
  t.equal(budget.used, 0)
})
