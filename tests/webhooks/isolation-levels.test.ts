// promise: Both plugins work whatever the default isolation level of the database is, and whatever parsers the host has set in `pg`
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openReceiver } from '../support/receiver.ts'
import { LEVELS, setDefaultLevel } from '../support/database-level.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { untilCount } from '../support/until.ts'
import { startHost } from './support/host.ts'

const times = <T>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => run(n)))

/** Postgres may refuse a transaction of the host at these levels, which then runs it again. */
const untilSerialized = <T>(run: () => Promise<T>): Promise<T> =>
  run().catch((error: { code?: string }) => {
    if (error.code !== '40001') throw error
    return untilSerialized(run)
  })

for (const level of LEVELS) {
  t.test(`two processes deliver where the database's level is ${level}`, async (t) => {
    const database = await freshDatabase(t)
    await setDefaultLevel(database, level)
    const hosts = await Promise.all([0, 1].map(() => startHost(t, { database })))
    const [{ app, ask, register }] = hosts as [(typeof hosts)[number]]
    const eventsOf = (n: number) => hosts[n % 2]!.app.svc.events
    const receiver = await openReceiver(t)
    const webhook = await register(receiver.url)

    await times(40, (n) => eventsOf(n).publish('order.created', { n }))
    const id = randomUUID()
    await times(20, (n) => eventsOf(n).publish('order.shipped', { n: 1 }, { id }))
    const inTransactions = await times(10, (n) =>
      untilSerialized(() =>
        app.svc.transaction((db) => eventsOf(0).publish('order.created', { n }, { db })),
      ),
    )
    t.equal(inTransactions.length, 10)
    await receiver.waitFor(51)
    const log = await untilCount(
      51,
      async () => (await ask('GET', `/${webhook.id}/deliveries?limit=100&status=delivered`)).body,
    )
    t.equal(new Set(log.map((row: { deliveryId: string }) => row.deliveryId)).size, 51)

    const answers = await times(10, (n) =>
      hosts[n % 2]!.ask('PATCH', `/${webhook.id}`, { label: `${n}` }),
    )
    t.same([...new Set(answers.map(({ status }) => status))], [200])
  })
}
