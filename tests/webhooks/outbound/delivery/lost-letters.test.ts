/** Deliveries whose last attempt ended with its process: what tells of it, whoever takes the dead letter. */
import { useCore } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { QUEUE } from '../../../../packages/webhooks/src/outbound/constants.ts'
import { LostLetters } from '../../../../packages/webhooks/src/outbound/delivery/lost-letters.ts'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'

const since = '2020-01-01T00:00:00Z'

/** A webhook with so many dead letters of a process that has just died, on a host that makes no attempts. */
async function deadWithProcess(t: Test, count: number, target?: string) {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const core = await useCore(app)
  await app.svc.events.subscribe('svc.delivery.dead', () => {})
  const { id } = await app.svc.webhooks.register({ url: 'https://a.example/', events: ['*'] })
  await core.db.query(
    `insert into svc_jobs.job (id, name, data, singleton_key, group_id, source_retry_count, source_output)
     select gen_random_uuid(), $1, jsonb_build_object('event', 'order.created', 'eventId', null,
              'payload', '{}', 'recipient', $2::text, 'deliveryId', gen_random_uuid()),
            $2, $2, 0, '{"value":{"message":"its process died"}}'
       from generate_series(1, $3)`,
    [`${QUEUE}.dlq`, target ?? id, count],
  )
  const countOf = async (text: string): Promise<number> => {
    const { rows } = await core.db.query(`select count(*)::int as count from ${text}`)
    return rows[0].count
  }
  /** What is written of the lost attempts. */
  const written = async () => ({
    rows: await countOf(
      `svc."__svc.webhooks.delivery_log" where status = 'dead' and error = 'lost' and attempt = 1`,
    ),
    counted: await countOf(`svc."__svc.webhooks.recent_attempts" where status = 'dead'`),
    events: await countOf(`svc."__svc.events" where name = 'svc.delivery.dead'`),
  })
  const letters = () => countOf(`svc_jobs.job where name = '${QUEUE}.dlq'`)
  return { app, core, id, written, letters, lost: new LostLetters(core, 30) }
}

const all = (count: number) => ({ rows: count, counted: count, events: count })

t.test(
  'a redrive leaves the lost attempts in the log, and tells of the dead deliveries',
  async (t) => {
    const { app, id, written, letters, lost } = await deadWithProcess(t, 1200)
    t.same(await app.svc.webhooks.redrive(id), { redriven: 1200 })
    // The first portion is redriven in the transaction of the call, the others in the background.
    await until(async () => (await letters()) === 0)
    t.same(await written(), all(1200))
    await lost.record()
    t.same(await written(), all(1200), 'once')
  },
)

t.test('so does a recovery of dead letters', async (t) => {
  const { app, id, written, letters } = await deadWithProcess(t, 3)
  t.match(await app.svc.webhooks.recover({ id, since, what: 'dead' }), { deliveries: 3 })
  await until(async () => (await letters()) === 0)
  t.same(await written(), all(3))
})

t.test('letters that wait for their recovery are recorded before', async (t) => {
  const { core, id, written, lost } = await deadWithProcess(t, 3)
  const request = { queue: QUEUE, recipient: id, what: 'dead' as const, since, until: null }
  // No process is told of it, so that none carries it out.
  await core.transaction((db) => core.queues.recover(db, { ...request, perSecond: 1 }))
  await lost.record()
  t.same(await written(), all(3))
})

t.test('all are recorded, however many one process leaves', async (t) => {
  const { written, lost } = await deadWithProcess(t, 5500)
  t.equal(await lost.record(), 1000, 'it goes on soon')
  t.same(await written(), all(5000))
  t.equal(await lost.record(), undefined)
  t.same(await written(), all(5500))
})

t.test('beside a redrive that is not committed, each is recorded once', async (t) => {
  const { app, id, written, lost } = await deadWithProcess(t, 3)
  const isRolledBack = app.svc.transaction(async (db) => {
    await app.svc.webhooks.redrive(id, { db })
    await lost.record()
    t.same(await written(), all(0), 'it is left to the redrive')
    throw new Error('rolled back')
  })
  await t.rejects(isRolledBack, { message: 'rolled back' })
  await lost.record()
  t.same(await written(), all(3))
  await app.svc.webhooks.redrive(id)
  t.same(await written(), all(3))
})

t.test('of a webhook that was deleted during the attempt no dead letter is left', async (t) => {
  const deleted = '00000000-0000-4000-8000-00000000000d'
  const { core, lost, written, letters } = await deadWithProcess(t, 1, deleted)
  await lost.record()
  const { rows } = await core.db.query(
    `select status, attempt, error from svc."__svc.webhooks.delivery_log" order by id`,
  )
  t.same(rows, [
    { status: 'failed', attempt: 1, error: 'lost' },
    { status: 'skipped', attempt: 2, error: null },
  ])
  t.same([await letters(), await written()], [0, all(0)])
})
