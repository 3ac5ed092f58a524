import type { Db } from '@svc/core'
import pg from 'pg'
import t, { type Test } from 'tap'
import { EventValues } from '../../../../packages/core/src/events/filter/event-values.ts'
import { decideFilters } from '../../../../packages/core/src/events/filter/filter-group.ts'
import { KnownFilters } from '../../../../packages/core/src/events/filter/known-filters.ts'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { startHost } from '../../support/host.ts'

const SET = { name: 'a', tenant: '' }
const OF_ACME = { name: 'a', tenant: 'acme' }

async function start(t: Test, mostCharacters?: number) {
  const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
  const db = app.svc.database
  const known = new KnownFilters(mostCharacters)
  const want = (
    on: Db,
    recipient: number,
    given: { filter?: object | null; events?: string[]; tenant?: string } = {},
  ): Promise<void> =>
    core.fanOut.setRecipient(on, 'test', {
      id: `00000000-0000-4000-8000-00000000000${recipient}`,
      events: ['a'],
      filter: {},
      ...given,
    })
  /** Whose filters let an event of `total: 5` through, and the index that says so. */
  const ask = async (on: Db = db, set = SET) => {
    const {
      groups: [group],
    } = await known.of(on, [set])
    const event = new EventValues({ event: 'a', tenant: null, payload: { total: 5 } })
    const { matched } = decideFilters(group ? [group] : [], event)
    return {
      index: group,
      matched: matched.map(({ recipient }) => Number(recipient.at(-1))).toSorted(),
    }
  }
  return { core, db, want, ask }
}

t.test('filters are kept until one of them changes', async (t) => {
  const { db, want, ask } = await start(t)
  t.same((await ask()).matched, [])
  await want(db, 1)
  const first = await ask()
  t.same(first.matched, [1])
  t.equal((await ask()).index, first.index, 'kept')

  await want(db, 2, { tenant: 'acme' })
  await want(db, 3, { events: ['b'] })
  await want(db, 4, { filter: null })
  t.equal((await ask()).index, first.index, 'what others want does not concern it')
  t.same((await ask(db, OF_ACME)).matched, [2])

  const changes: [() => Promise<void>, number[]][] = [
    [() => want(db, 4), [1, 4]],
    [() => want(db, 1, { filter: { 'payload.total': { $gt: 5 } } }), [4]],
    [() => want(db, 1, { filter: { 'payload.total': 5 } }), [1, 4]],
    [() => want(db, 4, { tenant: 'acme' }), [1]],
    [() => want(db, 4, { filter: null }), [1]],
    [() => want(db, 1, { events: [] }), []],
  ]
  for (const [place, [change, expected]] of changes.entries()) {
    await change()
    t.same((await ask()).matched, expected, `after change ${place + 1}`)
  }
})

t.test(
  'a transaction sees its own changes, and others see them once they are committed',
  async (t) => {
    const { core, db, want, ask } = await start(t)
    await want(db, 1)
    await ask()
    await core.transaction(async (own) => {
      // It has written something before it is asked, as a host does that publishes what it stores.
      await own.query('create temporary table orders ()')
      t.same((await ask(own)).matched, [1])
      const kept = (await ask()).index
      t.equal((await ask(own)).index, kept)
      await want(own, 2)
      t.same((await ask(own)).matched, [1, 2])
      t.same((await ask()).matched, [1])
      // Another one, which began later, commits before.
      await want(db, 3)
      t.same((await ask()).matched, [1, 3])
      t.same((await ask(own)).matched, [1, 2, 3])
    })
    t.same((await ask()).matched, [1, 2, 3])

    const undone = core.transaction(async (own) => {
      await want(own, 4)
      t.same((await ask(own)).matched, [1, 2, 3, 4])
      throw new Error('undone')
    })
    await t.rejects(undone, { message: 'undone' })
    t.same((await ask()).matched, [1, 2, 3])
  },
)

t.test('a transaction that sees an earlier state leaves no older one behind', async (t) => {
  const { core, db, want, ask } = await start(t)
  await want(db, 1)
  await core.transaction(async (own) => {
    await own.query('set transaction isolation level repeatable read')
    t.same((await ask(own)).matched, [1])
    await want(db, 2)
    t.same((await ask()).matched, [1, 2])
    await ask(own)
    t.same((await ask()).matched, [1, 2])
  })
})

t.test('a change that bypassed the trigger takes effect after an hour', async (t) => {
  const { core, db, want, ask } = await start(t)
  await want(db, 1)
  await ask()
  await core.transaction(async (own) => {
    await own.query(`set local session_replication_role = 'replica'`)
    await want(own, 1, { filter: { 'payload.total': 6 } })
  })
  t.same((await ask()).matched, [1])
  const later: Db = {
    query: (text, values = []) => {
      const readAt = (values[5] as number[]).map((at) => at - 61 * 60)
      return db.query(text, values.with(5, readAt))
    },
  }
  t.same((await ask(later)).matched, [])
})

t.test('filters that do not fit into memory are read at each publish', async (t) => {
  const { db, want, ask } = await start(t, 2000)
  const filter = { 'payload.text': { $nin: ['x'.repeat(1000)] } }
  await want(db, 1, { filter })
  const first = await ask()
  t.equal((await ask()).index, first.index)
  await want(db, 2, { tenant: 'acme', filter })
  t.same((await ask(db, OF_ACME)).matched, [2])
  t.not((await ask()).index, first.index, 'the longest unused went')
  await want(db, 3, { filter: { 'payload.text': { $nin: ['y'.repeat(1000)] } } })
  const large = await ask()
  t.same(large.matched, [1, 3])
  t.not((await ask()).index, large.index)
})

t.test('filters are asked for by name and tenant, and as long as there are some', async (t) => {
  const { app, core } = await startHost(t, { core: { worker: { enabled: false } } })
  const { database, events } = app.svc
  const recipient = { id: '00000000-0000-4000-8000-000000000001', events: ['a'], tenant: 'acme' }
  await core.fanOut.declare('test', '__svc.test', ['a'])
  await core.fanOut.setRecipient(database, 'test', { ...recipient, filter: { tenant: 'other' } })
  const asked: string[] = []
  const isAsked = async (tenant: string) => {
    await core.transaction(async (db) => {
      const counted: Db = {
        query(text, values) {
          asked.push(text)
          return db.query(text, values)
        },
      }
      asked.length = 0
      await events.publish('a', 1, { tenant, db: counted })
    })
    return asked.some((text) => text.includes('__svc.find_filters'))
  }
  t.ok(await isAsked('acme'))
  t.notOk(await isAsked('globex'))
  t.equal(asked.length, 1, 'one statement')
  // Also where several are published together.
  await Promise.all(
    ['acme', 'globex', 'initech'].map((tenant) => events.publish('a', 1, { tenant })),
  )
  t.notOk(await isAsked('globex'))
  t.ok(await isAsked('acme'))
  await core.fanOut.setRecipient(database, 'test', { ...recipient, filter: null })
  await isAsked('acme')
  t.notOk(await isAsked('acme'), 'forgotten')
})

t.test(
  'a filter of one tenant is not asked for with events of others in the same batch',
  async (t) => {
    const tenants: string[] = []
    class Listening extends pg.Client {
      override query(...given: unknown[]): never {
        const [statement, values] = given as [
          string | { text: string; values?: unknown[] },
          unknown[],
        ]
        const { text, values: its = values } =
          typeof statement === 'string' ? { text: statement } : statement
        if (text?.includes('__svc.find_filters')) tenants.push(...(its[1] as string[]))
        return super.query(...(given as [string])) as never
      }
    }
    const pool = new pg.Pool({ connectionString: await freshDatabase(t), Client: Listening })
    t.teardown(() => pool.end())
    const core = { database: pool, worker: { enabled: false } }
    const host = await startHost(t, { core })
    const { fanOut } = host.core
    await fanOut.declare('test', '__svc.test', ['a'])
    const id = '00000000-0000-4000-8000-000000000001'
    const filter = { 'payload.total': 5 }
    await fanOut.setRecipient(pool, 'test', { id, events: ['a'], tenant: 'acme', filter })
    const publish = (tenant: string) => host.app.svc.events.publish('a', {}, { tenant })
    // The first that is published of acme finds the filter.
    await publish('acme')
    for (let n = 0; n < 2; n++) await Promise.all(['globex', 'acme', 'initech'].map(publish))
    t.strictSame(new Set(tenants), new Set(['', 'acme']))
  },
)
