/** A filter that changes between the decision of a publish and its writes. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startHost } from '../../support/host.ts'
import { QUEUE } from '../../support/worker.ts'
import { until } from '../../../support/until.ts'

const RECIPIENT = '00000000-0000-4000-8000-000000000001'
const SECOND = '00000000-0000-4000-8000-000000000002'
const MATCHES = { 'payload.total': 5 }
const OTHER = { 'payload.total': 6 }

t.test('an event makes one job or none, by the filter before the change or after it', async (t) => {
  const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
  const { database, events, transaction } = app.svc
  await core.queues.define(QUEUE)
  await core.fanOut.declare('test', QUEUE, ['a'])
  const set = (filter: object | null) =>
    core.fanOut.setRecipient(database, 'test', { id: RECIPIENT, events: ['a'], filter })
  // Another one has a filter all the time, so that this process asks for filters of the event.
  const never = { id: SECOND, events: ['a'], filter: { tenant: 'none' } }
  await core.fanOut.setRecipient(database, 'test', never)
  await events.publish('a', { total: 5 })

  for (const [before, after, jobs] of [
    [MATCHES, null, 1],
    [null, MATCHES, 1],
    [MATCHES, { ...MATCHES, event: 'a' }, 1],
    [OTHER, MATCHES, 1],
    [MATCHES, OTHER, 0],
    [null, OTHER, 0],
    [OTHER, null, 1],
  ] as const) {
    await set(before)
    await database.query('delete from svc_jobs.job where name = $1', [QUEUE])
    await transaction(async (client) => {
      let isChanged = false
      const db = {
        async query(text: string, values?: unknown[]) {
          const result = await client.query(text, values)
          if (text.includes('__svc.find_filters') && !isChanged) {
            isChanged = true
            await set(after)
          }
          return result
        },
      }
      await events.publish('a', { total: 5 }, { db })
      t.ok(isChanged)
    })
    const { rows } = await database.query('select from svc_jobs.job where name = $1', [QUEUE])
    t.equal(rows.length, jobs, `${JSON.stringify(before)} to ${JSON.stringify(after)}`)
  }
})

t.test(
  'a recipient gets an event that waited for its id while it got its first filter',
  async (t) => {
    const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
    const { database, events, transaction } = app.svc
    await core.queues.define(QUEUE)
    const isWaiting = async () => {
      const { rows } = await database.query(
        `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
          and query like '%__svc.publish%'`,
      )
      return rows.length > 0
    }

    // The filter before and after, the jobs, what the recipient wants, and whether another wants all.
    const cases: [object | null, object | null, number, (string[] | undefined)?, boolean?][] = [
      [null, OTHER, 1],
      [null, MATCHES, 1],
      [MATCHES, OTHER, 1],
      [OTHER, MATCHES, 0],
      [null, OTHER, 1, ['*']],
      [null, OTHER, 0, ['b']],
      [null, null, 0, []],
      [null, OTHER, 2, undefined, true],
    ]
    // A process asks for the filters of an event once it has found some.
    for (const hasFound of [false, true]) {
      for (const [place, [before, after, jobs, wanted, hasSecond]] of cases.entries()) {
        const name = hasFound ? 'a' : `a${place}`
        const set = (filter: object | null, events = [name]) =>
          core.fanOut.setRecipient(database, 'test', { id: RECIPIENT, events, filter })
        await core.fanOut.declare('test', QUEUE, [name])
        if (hasFound && place === 0) {
          await set(OTHER)
          await events.publish(name, {})
        }
        await set(before)
        const seconds = hasSecond ? [name] : []
        await core.fanOut.setRecipient(database, 'test', { id: SECOND, events: seconds })
        await database.query('delete from svc_jobs.job where name = $1', [QUEUE])
        const id = randomUUID()
        const holder = await database.connect()
        await holder.query('begin')
        await events.publish(name, {}, { id, db: holder })
        // In a transaction, where it waits in its statement. Without one it would be decided anew.
        const published = transaction((db) => events.publish(name, { total: 5 }, { id, db }))
        await until(isWaiting)
        await set(after, wanted)
        await holder.query('rollback')
        holder.release()
        t.same(await published, { id, duplicate: false })
        const { rows } = await database.query('select from svc_jobs.job where name = $1', [QUEUE])
        t.equal(rows.length, jobs, JSON.stringify({ hasFound, before, after, wanted }))
      }
    }
  },
)
