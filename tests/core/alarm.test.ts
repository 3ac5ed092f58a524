import t from 'tap'
import { Alarm } from '../../packages/core/src/jobs/pump/wakeable-sleep.ts'

const HOUR_MS = 3_600_000

t.test('a ring ends a wait', async (t) => {
  const alarm = new Alarm()
  const waited = alarm.wait(HOUR_MS)
  alarm.ring()
  await t.resolves(waited)
})

t.test('a ring that nobody waits for is heard by the next who does, once', async (t) => {
  const alarm = new Alarm()
  alarm.ring()
  alarm.ring()
  await alarm.wait(HOUR_MS)
  let isOver = false
  const second = alarm.wait(HOUR_MS).then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  t.notOk(isOver)
  alarm.ring()
  await second
})

t.test('without a ring the time ends a wait', async (t) => {
  await t.resolves(new Alarm().wait(1))
})
