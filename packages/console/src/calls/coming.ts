/** Operations that `@svc/webhooks` is about to have. */
import type { Stats, StatsQuery } from '../contract.ts'
import { UnknownOperation } from '../errors.ts'
import type { By } from './call.ts'

export async function statsOf(webhooks: By['webhooks'], query: StatsQuery): Promise<Stats> {
  const { stats } = webhooks as { stats?: (query: StatsQuery) => Promise<Stats> }
  if (stats === undefined) throw new UnknownOperation('stats.get')
  return await stats(query)
}
