import t from 'tap'
import { WakeableSleep } from '../../../../packages/core/src/jobs/pump/wakeable-sleep.ts'

const HOUR_MS = 3_600_000

t.test('a wake ends a sleep', async (t) => {
  const sleep = new WakeableSleep()
  const waited = sleep.sleep(HOUR_MS)
  sleep.wake()
  await t.resolves(waited)
})

t.test('a wake while nothing sleeps ends the next sleep, once', async (t) => {
  const sleep = new WakeableSleep()
  sleep.wake()
  sleep.wake()
  await sleep.sleep(HOUR_MS)
  let isOver = false
  const second = sleep.sleep(HOUR_MS).then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  t.notOk(isOver)
  sleep.wake()
  await second
})

t.test('a sleep ends after its time without a wake', async (t) => {
  await t.resolves(new WakeableSleep().sleep(1))
})
