import t from 'tap'
import { pause, Timer, within } from '../../packages/core/src/time.ts'

const LATE = 'late'
const never = new Promise<string>(() => {})

t.test('a promise is waited for in time', async (t) => {
  t.equal(await within(10_000, Promise.resolve('in time'), () => LATE), 'in time')
  t.equal(await within(10_000, 'a value', () => LATE), 'a value')
  t.equal(await within(1, never, () => LATE), LATE)
  await t.rejects(
    within(1, never, () => {
      throw new Error(LATE)
    }),
    { message: LATE },
  )
  await t.rejects(
    within(10_000, Promise.reject(new Error('failed')), () => LATE),
    { message: 'failed' },
  )
})

t.test(
  'what comes in the turn in which the time is up is in time, and nothing is late',
  async (t) => {
    let isLate = false
    const { promise, resolve } = Promise.withResolvers<string>()
    // Its timer is the first of that turn, and `setImmediate` comes after all timers.
    const waiting = within(1, promise, () => {
      isLate = true
      return LATE
    })
    setTimeout(() => resolve('in time'), 1)
    const until = performance.now() + 20
    while (performance.now() < until);
    t.equal(await waiting, 'in time')
    await new Promise((done) => setImmediate(done))
    t.equal(isLate, false)
  },
)

t.test('a timer that is set keeps its time, and runs once each time that it is set', async (t) => {
  let runs = 0
  const ran = Promise.withResolvers<void>()
  const timer = new Timer(() => {
    runs++
    ran.resolve()
  })
  timer.set(-5)
  timer.set(3600_000)
  t.equal(timer.isSet, true)
  await within(10_000, ran.promise, () => t.fail('the second time has replaced the first'))
  t.equal(runs, 1)
  t.equal(timer.isSet, false)
  timer.set(0)
  timer.clear()
  t.equal(timer.isSet, false)
  await pause(20)
  t.equal(runs, 1, 'it was cleared')
})

t.test('a pause ends with the reason of its signal', async (t) => {
  const closing = new AbortController()
  const paused = pause(3600_000, closing.signal)
  closing.abort(new Error('the host closes'))
  await t.rejects(paused, { message: 'the host closes' })
})
