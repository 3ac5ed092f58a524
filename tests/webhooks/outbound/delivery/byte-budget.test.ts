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

/** Payloads that enter a budget of 100 bytes whose clock stands where the story says. */
function story() {
  const clock = { ms: 0 }
  const budget = new ByteBudget(100, () => clock.ms)
  const entered: string[] = []
  const held = new Map<string, Reservation>()
  return {
    clock,
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

t.test('under a steady flow of small payloads a large one enters after some seconds', async (t) => {
  const { clock, entered, ask, end } = story()
  await ask('small 0', 20)
  await ask('large', 150)
  for (let n = 1; n < 40 && !entered.includes('large'); n++) {
    clock.ms = n * 1000
    await ask(`small ${n}`, 20)
    await end(`small ${n - 1}`)
  }
  t.equal(entered.at(-1), 'large')
  t.ok(clock.ms >= 5000 && clock.ms <= 7000, `${clock.ms} ms`)
  t.equal(entered.includes('small 4'), true, 'until then others pass it')
  await end('large')
  t.match(entered.at(-1), /small/, 'those that came meanwhile follow')
})

t.test('nor do payloads of its own webhook hold a large one back', async (t) => {
  const { clock, entered, ask, end } = story()
  await ask('a.0', 10)
  await ask('a.large', 150)
  for (let n = 1; n < 40 && !entered.includes('a.large'); n++) {
    clock.ms = n * 1000
    await ask(`a.${n}`, 10)
    await end(`a.${n - 1}`)
  }
  t.equal(entered.at(-1), 'a.large')
})

t.test('however long a webhook waits for its share, others pass it', async (t) => {
  const { clock, entered, ask, end } = story()
  await ask('hangs.0', 20)
  await ask('hangs.1', 25)
  for (let n = 1; n < 40; n++) {
    clock.ms = n * 1000
    await ask(`other ${n}`, 70)
    await end(`other ${n}`)
  }
  t.equal(entered.length, 40)
  // From here on it waits for the budget alone.
  await ask('full', 70)
  await ask('more', 10)
  await end('hangs.0')
  t.notOk(entered.includes('hangs.1'))
  await ask('passes', 15)
  t.ok(entered.includes('passes'), 'its patience begins only then')
  clock.ms += 6000
  await ask('late', 1)
  t.notOk(entered.includes('late'))
  await end('full')
  t.strictSame(entered.slice(-2), ['hangs.1', 'late'])
})

t.test('those that were not to pass a large payload go on where it is aborted', async (t) => {
  const { clock, entered, ask } = story()
  const abort = new AbortController()
  await ask('a', 50)
  await ask('large', 150, abort.signal)
  clock.ms = 10_000
  await ask('aborted too', 50, abort.signal)
  await ask('b', 50)
  t.strictSame(entered, ['a'])
  abort.abort(new Error('the process closes'))
  await new Promise(setImmediate)
  t.strictSame(entered, ['a', 'b'])
})
