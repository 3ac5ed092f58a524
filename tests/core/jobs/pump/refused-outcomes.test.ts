/** Outcomes that are tried again alone: when, and how often. */
import t from 'tap'
import { RefusedOutcomes } from '../../../../packages/core/src/jobs/pump/refused-outcomes.ts'
import type { JobOutcome } from '../../../../packages/core/src/jobs/worker.ts'

const outcome = (id: string) => ({ job: { id } }) as JobOutcome
const refusal = new Error('refused')
const locked = Object.assign(new Error('locked'), { code: '55P03' })

/** How often it is tried in all, and how long the pauses are in between. */
function triesOf(error: unknown, isClosing = false) {
  let now = 0
  const refused = new RefusedOutcomes(() => now)
  const one = outcome('a')
  const pauses: number[] = []
  let tries = 1
  while (refused.add(one, error, isClosing)) {
    tries++
    pauses.push(refused.dueInMs())
    now += refused.dueInMs() - 1
    if (refused.takeDue(false)) throw new Error('too early')
    now += 1
    if (refused.takeDue(false) !== one) throw new Error('too late')
  }
  return { tries, pauses }
}

t.test('after growing pauses, five times', (t) => {
  t.same(triesOf(refusal), { tries: 5, pauses: [100, 200, 400, 800] })
  t.end()
})

t.test('for minutes where a lock is not to be had, unless the host closes', (t) => {
  const { tries, pauses } = triesOf(locked)
  t.equal(tries, 30)
  t.ok(pauses.reduce((sum, one) => sum + one, 0) > 100_000)
  t.equal(triesOf(locked, true).tries, 5)
  t.end()
})

t.test('a host that closes takes them before they are due', (t) => {
  const refused = new RefusedOutcomes(() => 0)
  t.equal(refused.dueInMs(), Infinity)
  refused.add(outcome('a'), refusal, true)
  t.equal(refused.takeDue(false), undefined)
  t.match(refused.takeDue(true), { job: { id: 'a' } })
  t.equal(refused.size, 0)
  t.end()
})
