/**
 * When the attempts of a webhook began, once the log has `count` of them: a rate limits that. How long
 * their requests are under way then depends on the machine.
 */
import { until } from '../../../support/until.ts'
import type { Host } from '../../support/host.ts'

export async function began({ ask }: Host, id: string, count: number): Promise<{ at: Date }[]> {
  const rows = await until(
    async (): Promise<{ attemptedAt: string }[]> => (await ask('GET', `/${id}/deliveries`)).body,
    ({ length }) => length === count,
  )
  return rows.map(({ attemptedAt }) => ({ at: new Date(attemptedAt) }))
}
