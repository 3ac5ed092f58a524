/** Random schedules of what happens to recipients, with two processes at work: what holds for each job at the end. */
import { setTimeout as pause } from 'node:timers/promises'
import type { FanOutJob, Job, Outcome } from '@svc/core/internal'
import t from 'tap'
import { liftRestrictions } from '../support/set-restrictions.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'
import { idOf, QUEUE, testWorker } from '../support/worker.ts'

const SEEDS = [1, 2, 3, 4]
const STEPS = 60
const AT_A_TIME = 2

const recipient = (n: number) => `00000000-0000-4000-8000-0000000000a${n}`
/** Each keeps its order all the time, has a limit all the time, or has one now and then. */
const [ORDERED, LIMITED, CHANGING] = [recipient(1), recipient(2), recipient(3)]
const GROUPS = [ORDERED, LIMITED, CHANGING, recipient(4), recipient(5), recipient(6)]

/** Mulberry32. */
function drawer(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

for (const seed of SEEDS) {
  t.test(
    `schedule ${seed}: each job is done once, in its order and within its limits`,
    async (t) => {
      const draw = drawer(seed)
      const made = new Map<string, string[]>(GROUPS.map((name) => [name, []]))
      const done = new Map<string, string[]>(GROUPS.map((name) => [name, []]))
      const inFlight = new Map<string, number>()
      const running = new Set<string>()
      const failing = new Set<string>()
      const problems: string[] = []
      const perform = async (name: string, { recipient }: Job<FanOutJob>): Promise<Outcome> => {
        const its = recipient ?? ''
        const count = (inFlight.get(its) ?? 0) + 1
        inFlight.set(its, count)
        if (its === ORDERED && count > 1) problems.push(`${count} of an order at a time`)
        if (its === LIMITED && count > AT_A_TIME) problems.push(`${count} at a time`)
        if (running.has(name)) problems.push(`${name} is attempted twice at a time`)
        running.add(name)
        await pause(draw(6))
        running.delete(name)
        inFlight.set(its, (inFlight.get(its) ?? 0) - 1)
        if (failing.has(its) || draw(8) === 0) return { kind: 'failed' }
        done.get(its)?.push(name)
        return { kind: 'completed' }
      }

      const worker = { concurrency: 16, maxAttempts: 1000 }
      const setUp = async (_app: unknown, core: Parameters<typeof testWorker>[0]) =>
        void (await testWorker(core, perform, { concurrency: 16, settlesTogether: true }))
      const { app, core, database } = await startHost(t, { core: { worker }, setUp })
      const other = await startHost(t, { database, core: { worker }, setUp })
      const { db, queues } = core
      const restrict = (name: string, most: number | null, isOrdered: boolean) =>
        db.query('select svc."__svc.restrict_recipient"($1, $2, null, null, $3, $4)', [
          QUEUE,
          name,
          most,
          isOrdered,
        ])
      await db.query(
        `insert into svc."__svc.subscriptions" (event_name, subscription, queue, fans_out, idempotent)
         values ('published', 'test', $1, true, true)`,
        [QUEUE],
      )
      await db.query(
        `insert into svc."__svc.recipients" (subscription, event_name, recipient, tenant)
         values ('test', 'published', $1, '')`,
        [ORDERED],
      )
      await restrict(ORDERED, null, true)
      await restrict(LIMITED, AT_A_TIME, false)
      queues.recipientsChanged(QUEUE)

      const insert = async (name: string) => {
        const its = made.get(name)!
        const names = Array.from({ length: 1 + draw(25) }, (_, n) => `${name} ${its.length + n}`)
        its.push(...names)
        if (name === ORDERED) {
          for (const id of names) {
            const { svc } = draw(2) === 0 ? app : other.app
            await svc.events.publish('published', {}, { id })
            await pause(draw(4))
          }
          return
        }
        const jobs = names.map((one) => ({
          id: idOf(one),
          data: { event: 'test', eventId: one, deliveryId: idOf(one) },
          recipient: name,
          ...(draw(4) === 0 ? { isLate: true } : {}),
        }))
        const from = draw(2) === 0 ? core : other.core
        await from.queues.insert(from.db, QUEUE, jobs)
        from.queues.wake(QUEUE)
      }
      const changes: ((name: string) => Promise<unknown>)[] = [
        insert,
        insert,
        insert,
        (name) => queues.hold(db, QUEUE, [name]),
        (name) => queues.release(db, QUEUE, [name]),
        async (name) => failing.add(name),
        async (name) => failing.delete(name),
        () => restrict(CHANGING, 1 + draw(3), draw(2) === 0),
        () => liftRestrictions(db, QUEUE, CHANGING),
      ]
      for (let step = 0; step < STEPS; step++) {
        await changes[draw(changes.length)]?.(GROUPS[draw(GROUPS.length)]!)
        queues.recipientsChanged(QUEUE)
        await pause(draw(20))
      }
      failing.clear()
      for (const name of GROUPS) await queues.release(db, QUEUE, [name])
      await liftRestrictions(db, QUEUE, CHANGING)
      queues.recipientsChanged(QUEUE)

      const isEmpty = async () => {
        const { rowCount } = await db.query('select from svc_jobs.job where name = $1', [QUEUE])
        return rowCount === 0
      }
      await until(isEmpty)
      for (const name of GROUPS) t.same(done.get(name)?.toSorted(), made.get(name)?.toSorted())
      t.same(done.get(ORDERED), made.get(ORDERED), 'in its order')
      t.same(problems, [])
    },
  )
}
