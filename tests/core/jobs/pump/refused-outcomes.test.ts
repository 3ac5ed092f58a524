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
    if (refused.takeDue(false).length > 0) throw new Error('too early')
    now += 1
    if (refused.takeDue(false)[0] !== one) throw new Error('too late')
  }
  return { tries, pauses }
}

t.test('after growing pauses, five times', (t) => {
  t.same(triesOf(refusal), { tries: 5, pauses: [100, 200, 400, 800] })
  t.end()
})

t.test('for two and a half minutes where a lock is not to be had', (t) => {
  const { pauses } = triesOf(locked)
  t.ok(pauses.every((one) => one <= 5000))
  const waited = pauses.reduce((sum, one) => sum + one, 0)
  t.ok(waited > 150_000 && waited < 156_000, `${waited} ms`)
  t.same(triesOf(locked, true), { tries: 2, pauses: [100] }, 'once more where the host closes')
  t.end()
})

t.test('a host that closes takes them before they are due', (t) => {
  const refused = new RefusedOutcomes(() => 0)
  t.equal(refused.dueInMs(), Infinity)
  refused.add(outcome('a'), refusal, true)
  t.same(refused.takeDue(false), [])
  t.match(refused.takeDue(true), [{ job: { id: 'a' } }])
  t.equal(refused.size, 0)
  t.end()
})
