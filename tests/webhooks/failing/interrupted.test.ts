// A webhook that is to become active again while another transaction or a failure is in the way.
import { useCore } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { sessionOn } from '../../support/session.ts'
import { until } from '../../support/until.ts'
import { scene } from './support/scene.ts'

const REGISTRATIONS = `svc."__svc.webhooks.registrations"`

/** Locks the waiting deliveries of a webhook, as a process does that moves them. */
async function lockJobs(t: Test, database: string, id: string): Promise<() => Promise<unknown>> {
  const moving = await sessionOn(t, database)
  await moving.query('begin')
  const waiting = `select from svc_jobs.job where singleton_key = $1 and state < 'active' for update`
  await until(
    () => moving.query(waiting, [id]),
    ({ rowCount }) => rowCount === 2,
  )
  return () => moving.query('commit')
}

t.test('waiting retries that another transaction has locked are sent as well', async (t) => {
  const { app, ask, database, receiver, id, hasStopped, shown } = await scene(t, {
    autoDisable: { failingForSeconds: 0.5, minAttempts: 2, probeEverySeconds: null },
  })
  await ask('PATCH', `/${id}`, { retry: { delaysSeconds: [3600] } })
  await app.svc.events.publish('order.created', { n: 1 })
  await until(async () => Date.now() - Date.parse((await shown()).failingSince ?? '') > 600)
  await app.svc.events.publish('order.created', { n: 2 })
  // A delivery whose failure is still to be settled would wait for its own retry.
  await until(hasStopped)
  receiver.answer(200)

  const unlock = await lockJobs(t, database, id)
  await ask('PATCH', `/${id}`, { active: true })
  await unlock()

  await receiver.waitFor(4)
  await until(async () => (await shown()).waiting === 0)
})

t.test('a probe whose delivery is locked is made soon after', async (t) => {
  const { app, database, receiver, id, isDisabled, hasStopped } = await scene(t, {
    autoDisable: { failingForSeconds: 0.5, minAttempts: 2, probeEverySeconds: 600 },
  })
  for (const n of [1, 2]) await app.svc.events.publish('order.created', { n })
  await until(hasStopped)
  receiver.answer(200)
  const unlock = await lockJobs(t, database, id)
  const { db } = await useCore(app)
  await db.query(`update ${REGISTRATIONS} set probe_after = now() where id = $1`, [id])
  const postponed = `select from ${REGISTRATIONS} where id = $1 and probe_after > now()`
  await until(
    () => db.query(postponed, [id]),
    ({ rowCount }) => rowCount === 1,
  )
  await unlock()
  await until(async () => !(await isDisabled()))
})

t.test(
  'a webhook that could not be resumed after a successful probe is resumed a second later',
  async (t) => {
    const { app, receiver, id, isDisabled, hasStopped } = await scene(t, {
      autoDisable: { failingForSeconds: 0.5, minAttempts: 2, probeEverySeconds: 600 },
    })
    for (const n of [1, 2]) await app.svc.events.publish('order.created', { n })
    await until(hasStopped)
    receiver.answer(200)
    const { db } = await useCore(app)
    await db.query(
      `create sequence tries;
     create function refuse() returns trigger language plpgsql as $$
       begin perform nextval('tries'); raise 'not now'; end $$;
     create trigger refused before update on ${REGISTRATIONS}
       for each row when (new.active and not old.active) execute function refuse()`,
    )
    await db.query(`update ${REGISTRATIONS} set probe_after = now() where id = $1`, [id])
    await until(
      () => db.query('select is_called from tries'),
      ({ rows }) => rows[0].is_called,
    )
    await db.query(`drop trigger refused on ${REGISTRATIONS}`)
    await until(async () => !(await isDisabled()))
  },
)
