import t from 'tap'
import {
  ByteBudget,
  type Reservation,
} from '../../../../packages/webhooks/src/outbound/delivery/byte-budget.ts'

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

/** Payloads that enter a budget of 100 bytes. */
function story() {
  const budget = new ByteBudget(100)
  const entered: string[] = []
  const held = new Map<string, Reservation>()
  return {
    entered,
    /** Its webhook is the part of the name before the dot. */
    ask: async (name: string, bytes: number, signal = never): Promise<void> => {
      const reserved = budget.reserve(name.split('.')[0]!, bytes, signal).then((reservation) => {
        entered.push(name)
        held.set(name, reservation)
      })
      reserved.catch(() => {})
      await new Promise(setImmediate)
    },
    end: async (name: string): Promise<void> => {
      held.get(name)!.release()
      await new Promise(setImmediate)
    },
  }
}

t.test(
  'payloads enter in their order, so that small ones do not hold a large one back',
  async (t) => {
    const { entered, ask, end } = story()
    await ask('a', 20)
    await ask('large', 150)
    await ask('b', 20)
    t.strictSame(entered, ['a'])
    await end('a')
    t.strictSame(entered, ['a', 'large'])
    await end('large')
    t.strictSame(entered, ['a', 'large', 'b'])
  },
)

t.test('nor do payloads of its own webhook', async (t) => {
  const { entered, ask, end } = story()
  await ask('a.0', 10)
  await ask('a.large', 150)
  await ask('a.1', 10)
  t.strictSame(entered, ['a.0'])
  await end('a.0')
  t.strictSame(entered, ['a.0', 'a.large'])
})

t.test('however long a webhook waits for its share, others pass it', async (t) => {
  const { entered, ask, end } = story()
  await ask('hangs.0', 20)
  await ask('hangs.1', 25)
  for (let n = 0; n < 40; n++) {
    await ask(`other ${n}`, 70)
    await end(`other ${n}`)
  }
  t.equal(entered.length, 41)
  // From here on it waits for the budget alone.
  await ask('full', 80)
  await end('hangs.0')
  await ask('late', 1)
  t.notOk(entered.includes('hangs.1') || entered.includes('late'))
  await end('full')
  t.strictSame(entered.slice(-2), ['hangs.1', 'late'])
})

t.test('those behind a large payload go on where it is aborted', async (t) => {
  const { entered, ask } = story()
  const abort = new AbortController()
  await ask('a', 50)
  await ask('large', 150, abort.signal)
  await ask('aborted too', 50, abort.signal)
  await ask('b', 50)
  t.strictSame(entered, ['a'])
  abort.abort(new Error('the process closes'))
  await new Promise(setImmediate)
  t.strictSame(entered, ['a', 'b'])
})
