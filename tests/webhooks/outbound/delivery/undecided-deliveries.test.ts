import t from 'tap'
import type { DeliveryJob } from '../../../../packages/webhooks/src/outbound/delivery-queue.ts'
import { UndecidedDeliveries } from '../../../../packages/webhooks/src/outbound/delivery/undecided-deliveries.ts'

t.test('few undecided deliveries hold a slot of the worker, the others get turns', async (t) => {
  const undecided = new UndecidedDeliveries({} as never)
  const data = { event: 'a', eventId: null, recipient: 'w', filter: { 'payload.n': 1 } }
  const job = { data } as unknown as DeliveryJob
  const deciding: Promise<boolean>[] = []
  for (let n = 0; n < 4; n++) {
    t.equal(undecided.turnInMs(), null)
    deciding.push(undecided.matches(job, '{"n":1}'))
  }
  const [first, second] = [undecided.turnInMs() ?? 0, undecided.turnInMs() ?? 0]
  t.ok(first > 0)
  t.ok(second > first, 'one after another')
  t.same(await Promise.all(deciding), [true, true, true, true])
  t.equal(undecided.turnInMs(), null, 'until there is room again')
})
