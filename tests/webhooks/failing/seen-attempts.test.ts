import t from 'tap'
import { SeenAttemptsLog } from '../../../packages/webhooks/src/outbound/health/seen-attempts.ts'

const W = { webhookId: 'webhook', url: 'https://receiver.example' }
const result = (hasSucceeded: boolean, wasFailing = false, isProbe = false) => ({
  ...W,
  hasSucceeded,
  wasFailing,
  isProbe,
})

t.test('a change of health is written soon, unchanged health at most every few seconds', (t) => {
  const log = new SeenAttemptsLog()
  log.add(result(true), 1000)
  t.equal(log.dueAt(), 1200, 'nothing was written of it yet')
  t.equal(log.take(1200, 1200).length, 1)
  log.written(W, false, 1200)
  log.add(result(true), 1300)
  t.equal(log.dueAt(), 6200)
  log.add(result(false), 1400)
  t.equal(log.dueAt(), 1600, 'a first failure')
  log.take(1600, 1600)
  log.written(W, true, 1600)
  log.add(result(false, true), 1700)
  t.equal(log.dueAt(), 2600)
  log.add(result(true), 1800)
  t.equal(log.dueAt(), 2000, 'a success, whatever its batch was told')
  t.end()
})

t.test('a success forgets the failures before it, and failures after it count', (t) => {
  const log = new SeenAttemptsLog()
  log.add(result(false), 0)
  log.add(result(false), 10)
  log.add(result(true), 20)
  log.add(result(false), 30)
  log.add(result(false), 40)
  t.strictSame(log.take(Infinity, 100), [
    {
      ...W,
      successAgoMs: 80,
      failures: 2,
      firstFailureAgoMs: 70,
      lastFailureAgoMs: 60,
      isFailedProbe: false,
    },
  ])
  t.equal(log.dueAt(), Infinity)
  t.end()
})

t.test('results that could not be written are written before newer ones', (t) => {
  const log = new SeenAttemptsLog()
  log.add(result(false), 0)
  const taken = log.take(Infinity, 50)
  log.add(result(false), 80)
  log.putBack(taken, 50, 1000)
  t.equal(log.dueAt(), 1000)
  t.match(log.take(1000, 1000), [{ failures: 2, firstFailureAgoMs: 1000, lastFailureAgoMs: 920 }])

  log.add(result(false), 1000)
  const again = log.take(Infinity, 1000)
  log.add(result(true), 1100)
  log.putBack(again, 1000, 2000)
  t.match(log.take(2000, 2000), [{ failures: 0, firstFailureAgoMs: null, successAgoMs: 900 }])
  t.end()
})

t.test('a probe that fails is written soon', (t) => {
  const log = new SeenAttemptsLog()
  log.written(W, true, 0)
  log.add(result(false, true, true), 10)
  t.equal(log.dueAt(), 210)
  t.match(log.take(210, 210), [{ isFailedProbe: true }])
  t.end()
})

t.test('attempts at the address before are seen apart, and forgotten once it is gone', (t) => {
  const log = new SeenAttemptsLog()
  const before = { ...W, url: 'https://before.example' }
  log.add({ ...result(false), url: before.url }, 0)
  log.add(result(true), 10)
  log.add({ ...result(false), url: before.url }, 20)
  t.match(log.take(Infinity, 100), [
    { url: before.url, failures: 2, successAgoMs: null },
    { url: W.url, failures: 0, successAgoMs: 90 },
  ])
  log.written(before, true, 100)
  log.prune([before], 100)
  log.add({ ...result(false), url: before.url }, 200)
  t.equal(log.dueAt(), 400, 'a first failure again')
  t.end()
})

t.test('webhooks without attempts are forgotten, however busy another one is', (t) => {
  const log = new SeenAttemptsLog()
  log.written(W, false, 0)
  for (let n = 0; n < 100; n++) {
    const now = n * 6000
    log.written({ ...W, webhookId: `quiet ${n}` }, false, now)
    log.written(W, false, now)
    log.prune([], now)
  }
  t.equal(log.size, 2, 'the busy one, and the last of the others')
  t.end()
})

t.test('a webhook that failed and has no further attempts is forgotten', (t) => {
  const log = new SeenAttemptsLog()
  log.written({ ...W, webhookId: 'deleted' }, true, 0)
  log.written(W, true, 0)
  log.add(result(false), 100)
  t.equal(log.dueAt(), 1000, 'no first failure, though its batch was read before')
  log.take(1000, 1000)
  log.written(W, true, 1000)
  log.prune([], 5500)
  t.equal(log.size, 1, 'the one that failed again')
  log.prune([], 6000)
  t.equal(log.size, 0)
  t.end()
})

t.test('what is due first is known after each change', (t) => {
  const log = new SeenAttemptsLog()
  const other = { ...W, webhookId: 'other' }
  log.written(W, false, 0)
  log.add(result(true), 100)
  t.equal(log.dueAt(), 5000)
  log.add({ ...result(true), ...other }, 200)
  t.equal(log.dueAt(), 400)
  const taken = log.take(400, 400)
  t.match(taken, [other])
  t.equal(log.dueAt(), 5000)
  log.putBack(taken, 400, 1400)
  t.equal(log.dueAt(), 1400)
  log.add({ ...result(true), ...other }, 500)
  t.equal(log.dueAt(), 700)
  const again = log.take(700, 700)
  log.add({ ...result(true), ...other }, 800)
  t.equal(log.dueAt(), 1000)
  log.putBack(again, 700, 1700)
  t.equal(log.dueAt(), 1000, 'a later success says all that the earlier one did')
  t.end()
})
