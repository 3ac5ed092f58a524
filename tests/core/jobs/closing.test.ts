// promise: `close()` waits for attempts in progress, puts those back that do not end in time, and loses no job
import { once } from 'node:events'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { queryOn } from '../../support/session.ts'
import { startChild } from '../support/child.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'
import { idOf, QUEUE, RECIPIENT, testWorker } from '../support/worker.ts'

const count = (lines: string[], what: string) =>
  lines.filter((line) => line.startsWith(what)).length

t.test('a process that closes while its jobs run loses none, and exits by itself', async (t) => {
  const database = await freshDatabase(t)
  const child = startChild(t, 'worker-child.ts', database, '', '5')
  await until(() => child.lines.includes('ready'))
  const { app } = await startHost(t, { database, core: { worker: { enabled: false } } })
  // So many that some are left where other steps of the close take long before the workers stop.
  const all = Array.from({ length: 600 }, (_, n) => n)
  await Promise.all(all.map((n) => app.svc.events.publish('work', { n, ms: 50 })))
  await until(() => count(child.lines, 'done') >= 5)

  child.end()

  const { code, complaint } = await child.exited
  t.equal(code, 0)
  t.equal(complaint, '')
  t.equal(count(child.lines, 'start'), count(child.lines, 'done'), 'what had begun came to its end')
  t.ok(count(child.lines, 'done') < all.length, 'and no more was begun')
  const second = startChild(t, 'worker-child.ts', database)
  await until(() => count(child.lines, 'done') + count(second.lines, 'done') >= all.length)
  second.end()
  await second.exited
  const done = [...child.lines, ...second.lines].filter((line) => line.startsWith('done'))
  t.strictSame(
    done.map((line) => Number(line.split(' ')[1])).toSorted((a, b) => a - b),
    all,
    'each once',
  )
  t.ok(
    done.every((line) => line.endsWith(' 1')),
    'and in its first attempt',
  )
})

t.test(
  'an attempt that does not end in time is aborted and goes back, no attempt used up',
  async (t) => {
    const seen: string[] = []
    const stuck = await startHost(t, {
      setUp(_app, core) {
        core.work({
          queue: '__svc.sub/a',
          concurrency: 10,
          drainSeconds: 0.05,
          prepare: async () => () => null,
          perform: (_job, _prepared, signal) => {
            const isFirst = seen.push('begun') === 1
            return new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                seen.push((signal.reason as Error).message)
                // The other one does not even end now.
                if (isFirst) reject(signal.reason as Error)
              })
            })
          },
        })
        return core.svc.events.subscribe('b', () => {})
      },
    })
    const { database } = stuck
    const publisher = await startHost(t, {
      database,
      core: { worker: { enabled: false } },
      setUp: ({ svc }) => svc.events.subscribe('a', () => {}),
    })
    for (const n of [1, 2]) await publisher.app.svc.events.publish('a', n)
    await until(() => seen.length === 2)
    await stuck.app.close()
    t.strictSame(seen, ['begun', 'begun', 'the process closes', 'the process closes'])
    t.notOk(
      stuck.log.some(({ level }) => Number(level) >= 50),
      'neither has failed',
    )
    const attempts: number[] = []
    await startHost(t, {
      database,
      setUp: ({ svc }) =>
        svc.events.subscribe('a', (_payload, { attempt }) => void attempts.push(attempt)),
    })
    await until(() => attempts.length === 2)
    t.strictSame(attempts, [1, 1])
  },
)

t.test('publishes that are pending when the host closes are committed or refused', async (t) => {
  const database = await freshDatabase(t)
  const { app } = await startHost(t, { database })
  const pending = Array.from({ length: 500 }, (_, i) => app.svc.events.publish('a', i))
  const [results] = await Promise.all([Promise.allSettled(pending), app.close()])
  const [{ n }] = await queryOn(database, `select count(*)::int as n from svc."__svc.events"`)
  t.equal(n, results.filter(({ status }) => status === 'fulfilled').length)
  t.equal(n, 500, 'those of before the close are committed')
  await t.rejects(app.svc.events.publish('a', 'late'), 'later ones are refused')
})

t.test('a handler that publishes while the host closes is not cut off', async (t) => {
  const database = await freshDatabase(t)
  const begun = Promise.withResolvers<void>()
  const { app } = await startHost(t, {
    database,
    setUp: ({ svc }) =>
      svc.events.subscribe('a', async () => {
        begun.resolve()
        await new Promise(setImmediate)
        await svc.events.publish('b', 'follows')
      }),
  })
  await app.svc.events.publish('a', 1)
  await begun.promise
  await app.close()
  const names = await queryOn(database, `select name from svc."__svc.events" order by name`)
  t.strictSame(names, [{ name: 'a' }, { name: 'b' }])
  t.same(await queryOn(database, 'select from svc_jobs.job'), [], 'its job is settled')
})

t.test('a host can be closed twice, and before it is ready', async (t) => {
  const { app } = await startHost(t)
  await Promise.all([app.close(), app.close()])
  await app.close()
  t.pass()
})

t.test('a step of the close that fails does not keep the others from running', async (t) => {
  const turns: string[] = []
  const { app, log } = await startHost(t, {
    setUp(_app, core) {
      core.onDrained(() => Promise.reject(new Error('cannot clean up')))
      core.onDrained(async () => void turns.push('second'))
    },
  })
  await app.close()
  t.strictSame(turns, ['second'])
  t.match(
    log.find(({ msg }) => msg === 'shutdown step failed'),
    { err: { message: 'cannot clean up' } },
  )
})

t.test('a close gives attempts their time while a sweep ends, and not after it', async (t) => {
  const database = await freshDatabase(t)
  const sweeping = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const isGivenUp = Promise.withResolvers<void>()
  const host = await startHost(t, {
    database,
    setUp(_app, core) {
      core.every(0.01, 'a sweep with a long statement', async (stopping) => {
        sweeping.resolve()
        if (!stopping.aborted) await once(stopping, 'abort')
        await isGivenUp.promise
      })
      core.work({
        queue: '__svc.sub/a',
        concurrency: 1,
        drainSeconds: 0.05,
        prepare: async () => () => null,
        perform: async (_job, _prepared, signal) => {
          begun.resolve()
          await once(signal, 'abort')
          isGivenUp.resolve()
          throw signal.reason
        },
      })
    },
  })
  const publisher = await startHost(t, {
    database,
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('a', () => {}),
  })
  await publisher.app.svc.events.publish('a', 1)
  await Promise.all([sweeping.promise, begun.promise])
  const beganAt = performance.now()
  await host.app.close()
  const tookMs = performance.now() - beganAt
  t.ok(tookMs < 5000, `one after the other would take ten seconds: ${tookMs}`)
})

t.test('a close does not wait for a statement that moves jobs of a recipient', async (t) => {
  const { core, database } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('a'), data: {}, recipient: RECIPIENT }])
  await core.queues.hold(core.db, QUEUE, [RECIPIENT])
  await queryOn(
    database,
    `update svc_jobs.job set start_after = now() + interval '1 hour';
     create function public.slowly() returns trigger language plpgsql as
       'begin perform pg_sleep(60); return new; end';
     create trigger slowly before update of priority on svc_jobs.job for each row
       when (new.priority = -2) execute function public.slowly()`,
  )
  const mover = await startHost(t, {
    database,
    setUp: (_app, core) => testWorker(core, () => ({ kind: 'completed' })),
  })
  const isMoving = `select from pg_stat_activity where wait_event = 'PgSleep'`
  await until(async () => (await queryOn(database, isMoving)).length > 0)

  const beganAt = performance.now()
  await mover.app.close()

  const tookMs = performance.now() - beganAt
  t.ok(tookMs < 10_000, `the statement would take fifteen seconds: ${tookMs}`)
  const [{ priority }] = await queryOn(database, `select priority from svc_jobs.job`)
  t.equal(priority, 0, 'another process moves it')
})
