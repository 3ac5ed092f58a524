import t from 'tap'
import type { Batch } from '../../../packages/auth/src/tables/allowance-terms.ts'
import { AllowanceQueue } from '../../../packages/auth/src/limits/allowance-queue.ts'
import { Meter } from '../../../packages/auth/src/limits/meter.ts'

const SLOTS = 200

const meterOf = (subject: string): Meter => new Meter({ subject, period: 60, limit: 100 })

/** A queue whose statements get no answer. */
function startQueue() {
  const sent: Batch[] = []
  const due: (() => void)[] = []
  const queue = new AllowanceQueue(
    {
      send: (batch) => void sent.push(batch),
      now: () => 0,
      schedule: (run) => void due.push(run),
      newHolder: () => 'holder',
    },
    {
      waitingFor: ({ rule }) => ({ rule, needs: [{ cost: 1, times: 1 }] }),
      answered: () => {},
      failed: () => {},
    },
  )
  const run = () => {
    for (const task of due.splice(0)) task()
  }
  return { queue, sent, run }
}

const subjectsOf = (batch: Batch | undefined): string[] =>
  batch?.requests.map(({ rule }) => rule.subject) ?? []

t.test(
  'the limits that requests wait for are asked for before those that are given back',
  async (t) => {
    const { queue, sent, run } = startQueue()
    for (let n = 0; n < SLOTS * 5; n++) queue.add(meterOf(`key:rests-${n}`))
    queue.addAwaited(meterOf('key:awaited'))
    run()
    t.equal(sent.length, 2)
    t.equal(subjectsOf(sent[0])[0], 'key:awaited')
    t.equal(sent[0]?.requests.length, SLOTS)
  },
)

t.test('a limit is asked for once, however it was added', async (t) => {
  const { queue, sent, run } = startQueue()
  const meter = meterOf('key:a')
  queue.add(meter)
  queue.addAwaited(meter)
  queue.add(meter)
  run()
  t.same(sent.map(subjectsOf), [['key:a']])
})

t.test('a limit to renew goes with the next statement, or with the next sweep', async (t) => {
  const { queue, sent, run } = startQueue()
  queue.addForLater(meterOf('key:a'))
  run()
  t.same(sent, [], 'it sends no statement of its own')
  queue.addAwaited(meterOf('key:b'))
  run()
  queue.addForLater(meterOf('key:c'))
  t.notOk(queue.isSettled)
  queue.flush()
  t.same(sent.map(subjectsOf), [['key:b', 'key:a'], ['key:c']])
})
