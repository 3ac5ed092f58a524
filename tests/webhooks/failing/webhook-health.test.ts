import t from 'tap'
import {
  lockFailing,
  markWarned,
  writeHealth,
  type SeenAttempts,
} from '../../../packages/webhooks/src/tables/webhook-health.ts'
import { startHost } from '../support/host.ts'

const minutes = (count: number | null) => (count === null ? null : count * 60_000)

const ADDRESS = 'https://receiver.example/hook'

/** What a process has seen, in minutes ago. */
const saw = (
  webhookId: string,
  {
    success = null,
    first = null,
    last = first,
    failures = 0,
  }: {
    success?: number | null
    first?: number | null
    last?: number | null
    failures?: number
  },
): SeenAttempts => ({
  webhookId,
  url: ADDRESS,
  successAgoMs: minutes(success),
  failures,
  firstFailureAgoMs: minutes(first),
  lastFailureAgoMs: minutes(last),
  isFailedProbe: false,
})

t.test('the results of several processes add up, in whatever order they are written', async (t) => {
  const { app, register } = await startHost(t, { core: { worker: { enabled: false } } })
  const db = app.svc.database
  const { id } = await register(ADDRESS)
  const write = (seen: Parameters<typeof saw>[1]) => writeHealth(db, [saw(id, seen)], null)
  const stored = async () => {
    const { rows } = await db.query(
      `select round(extract(epoch from now() - failing_since) / 60)::int as failing,
              round(extract(epoch from now() - last_success_at) / 60)::int as success,
              round(extract(epoch from now() - last_failure_at) / 60)::int as failure,
              failed_attempts as attempts
         from svc."__svc.webhooks.registrations" where id = $1`,
      [id],
    )
    return rows[0]
  }

  t.match(await write({ success: 60 }), [{ id, isFailing: false, isDisabled: false }])
  t.strictSame(await stored(), { failing: null, success: 60, failure: null, attempts: 0 })
  t.match(await write({ first: 50, last: 40, failures: 3 }), [{ isFailing: true }])
  t.strictSame(await stored(), { failing: 50, success: 60, failure: 40, attempts: 3 })
  await write({ first: 55, last: 45, failures: 2 })
  t.strictSame(await stored(), { failing: 55, success: 60, failure: 40, attempts: 5 })

  // A success that was seen by another process, in the middle of the failures.
  await write({ success: 30, first: 20, failures: 1 })
  t.strictSame(await stored(), { failing: 20, success: 30, failure: 20, attempts: 1 })
  await write({ first: 35, last: 33, failures: 4 })
  t.strictSame(await stored(), { failing: 20, success: 30, failure: 20, attempts: 1 })
  t.match(await write({ success: 10 }), [{ isFailing: false }])
  t.strictSame(await stored(), { failing: null, success: 10, failure: 20, attempts: 0 })

  const elsewhere = { ...saw(id, { first: 5, failures: 4 }), url: 'https://before.example/hook' }
  t.strictSame(await writeHealth(db, [elsewhere], null), [], 'at an address that it had before')
  t.match(await writeHealth(db, [elsewhere, saw(id, { success: 8 })], null), [{ id, url: ADDRESS }])
  t.strictSame(await stored(), { failing: null, success: 8, failure: 20, attempts: 0 })

  const client = await db.connect()
  await client.query('begin')
  await client.query(`select from svc."__svc.webhooks.registrations" for update`)
  t.strictSame(await write({ success: 5 }), [], 'nobody waits for a row that is locked')
  await client.query('rollback')
  client.release()
})

t.test('a webhook is disabled only after it is marked as warned', async (t) => {
  const { app, register } = await startHost(t, { core: { worker: { enabled: false } } })
  const db = app.svc.database
  const { id } = await register(ADDRESS)
  await writeHealth(db, [saw(id, { first: 50, last: 1, failures: 3 })], null)
  const failing = () => lockFailing(db, [id], 60, 3)

  t.strictSame(await failing(), [], 'its row may have been locked when others were marked')
  t.match(await markWarned(db, [], 60), [])
  t.match(await markWarned(db, [id], 50 * 60), [], 'its attempts span 49 minutes')
  t.match(await markWarned(db, [id], 60), [{ id }])
  t.strictSame(await failing(), [id])
})
