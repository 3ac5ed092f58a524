import type { Receiver } from './stage.ts'

/** Deliveries a second, from the moment when `after` more have come in until `count` more have. */
export async function rateOf(
  receiver: Receiver,
  { after, count }: { after: number; count: number },
): Promise<number> {
  await receiver.call('reset')
  const start = await receiver.call('reached', after, 120)
  const end = await receiver.call('reached', after + count, 300)
  return count / ((end.lastAt - start.lastAt) / 1000)
}
