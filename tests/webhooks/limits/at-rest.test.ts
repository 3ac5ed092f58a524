// In a process of its own: it counts the statements of all clients of pg.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { registerWith } from './support/register-with.ts'

const A_SECOND = 8
const WATCHED_SECONDS = 7

const RESTRICTIONS: Record<string, object[]> = {
  'an ordered webhook': [{ ordered: true }],
  'a limited webhook': [{ rateLimit: { limit: 5, perSeconds: 1 } }],
  'a capped webhook': [{ maxInFlight: 2 }],
  'webhooks with each restriction': [
    { ordered: true },
    { rateLimit: { limit: 5, perSeconds: 1 } },
    { maxInFlight: 2 },
    { ordered: true, rateLimit: { limit: 5, perSeconds: 1 } },
  ],
  'forty ordered webhooks': Array.from({ length: 40 }, () => ({ ordered: true })),
}

for (const [what, settings] of Object.entries(RESTRICTIONS)) {
  t.test(`a host with ${what} at rest sends at most ${A_SECOND} statements a second`, async (t) => {
    const host = await startHost(t)
    const receiver = await openReceiver(t)
    for (const each of settings) await registerWith(host, receiver.url, each)
    const { database, events } = host.app.svc
    await events.publish('order.created', {})
    await receiver.waitFor(settings.length)
    await until(async () => (await database.query('select from svc_jobs.job')).rowCount === 0)
    await assertAtRest(t)
    await events.publish('order.created', {})
    await receiver.waitFor(2 * settings.length)
  })
}

t.test(
  `a host with twenty subscriptions at rest sends at most ${A_SECOND} statements a second`,
  async (t) => {
    const { app } = await startHost(t)
    const handled: string[] = []
    for (let n = 0; n < 20; n++) {
      const subscription = `subscription-${n}`
      await app.svc.events.subscribe('order.created', () => void handled.push(subscription), {
        subscription,
      })
    }
    await assertAtRest(t)
    await app.svc.events.publish('order.created', {})
    await until(() => handled.length === 20)
  },
)

/** By the median of the seconds: in the first minute a host makes the checks that it makes rarely. */
async function assertAtRest(t: Test): Promise<void> {
  const seconds: string[][] = []
  const client = pg.Client.prototype as { query: (...args: unknown[]) => unknown }
  const { query } = client
  client.query = function counted(this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text?: string }]
    seconds.at(-1)?.push(typeof statement === 'string' ? statement : (statement.text ?? ''))
    return Reflect.apply(query, this, args)
  }
  for (let second = 0; second < WATCHED_SECONDS; second++) {
    seconds.push([])
    await pause(1000)
  }
  client.query = query
  const ordered = seconds.toSorted((one, other) => one.length - other.length)
  const median = ordered[Math.floor(WATCHED_SECONDS / 2)] ?? []
  t.ok(median.length <= A_SECOND, `${median.length} statements`, { sent: median })
}
