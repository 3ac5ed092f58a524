import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { NotificationConnection } from '../../../packages/core/src/postgres/notifications.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost } from '../support/host.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { until } from '../../support/until.ts'

t.test('a notification reaches every process, and each recognises its own', async (t) => {
  const heard: string[] = []
  const listenAs =
    (who: string) => (_app: unknown, core: { notifications: NotificationConnection }) => {
      core.notifications.listen(
        'keys',
        (payload, fromHere) => void heard.push(`${who} ${payload} ${fromHere}`),
      )
    }
  const one = await startHost(t, { setUp: listenAs('one') })
  const other = await startHost(t, { database: one.database, setUp: listenAs('other') })
  await until(async () => {
    await other.core.notifications.send('keys', 'warm')
    return (
      heard.some((line) => line.startsWith('one')) && heard.some((line) => line.startsWith('other'))
    )
  })
  await one.core.notifications.send('keys', "it's")
  await until(() => heard.includes("one it's true") && heard.includes("other it's false"))
  t.ok(heard.includes('other warm true'))
})

t.test('a listener that throws is logged, and the others are called', async (t) => {
  const heard: string[] = []
  const { core, log } = await startHost(t)
  core.notifications.listen('a', () => {
    throw new Error('a bug')
  })
  core.notifications.listen('a', (payload) => void heard.push(payload))
  await until(async () => {
    await core.notifications.send('a', 'x')
    return heard.includes('x')
  })
  t.ok(log.some(({ err }) => (err as Error | undefined)?.message === 'a bug'))
})

t.test('a lost notification connection is opened again, with all its channels', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const errors: Error[] = []
  const line = new NotificationConnection({ connectionString: proxy.url }, true, (error) =>
    errors.push(error),
  )
  t.teardown(() => line.close())
  const heard: string[] = []
  line.listen('a', (payload) => void heard.push(`a ${payload}`))
  line.listen('b', (payload) => void heard.push(`b ${payload}`))
  for (const round of ['1', '2', '3']) {
    await until(async () => {
      await line.send('a', round)
      await line.send('b', round)
      return heard.includes(`a ${round}`) && heard.includes(`b ${round}`)
    })
    proxy.cut()
    await t.resolves(line.send('a', 'lost'), 'nobody is told that a signal is lost')
    proxy.mend()
  }
  t.ok(errors.length > 0)
})

t.test('a notification connection that cannot be made closes at once', async (t) => {
  const line = new NotificationConnection({ host: '127.0.0.1', port: 1 }, true, () => {})
  line.listen('a', () => {})
  await line.send('a', 'x')
  await line.close()
  await t.resolves(line.send('a', 'y'))
})

const TIMEOUT = { timeoutMs: 60_000 }

for (const canListen of [true, false]) {
  t.test(
    `a notification connection runs small statements, listening or not: ${canListen}`,
    async (t) => {
      const proxy = await proxyPostgres(t, await freshDatabase(t))
      const line = new NotificationConnection({ connectionString: proxy.url }, canListen, () => {})
      t.teardown(() => line.close())
      const ask = async (n: number) =>
        (await line.query('select $1::int as n', [n], TIMEOUT)).rows[0].n as number
      t.equal(line.isResponsive(1000), false, 'before it is there')
      t.equal(await ask(1), 1)
      t.equal(line.isResponsive(1000), true)
      await t.rejects(line.query('select 1/0', [], TIMEOUT), { message: /division by zero/ })
      t.equal(line.isResponsive(1000), true, 'a statement that fails costs no connection')

      proxy.cut()
      await t.rejects(ask(2))
      t.equal(line.isResponsive(1000), false)
      proxy.mend()
      await until(() =>
        ask(3).then(
          (n) => n === 3,
          () => false,
        ),
      )
      t.equal(line.isResponsive(1000), true)
    },
  )
}

t.test(
  'an urgent statement comes before those that wait, and one that is too late is not run',
  async (t) => {
    const database = await freshDatabase(t)
    const line = new NotificationConnection({ connectionString: database }, false, () => {})
    t.teardown(() => line.close())
    const { core } = await startHost(t, { database })
    await core.db.query('create table noted (text text, at serial)')
    const note = (text: string, options: object = {}) =>
      line.query('insert into noted (text) values ($1)', [text], { ...TIMEOUT, ...options })
    await note('first')

    const locker = await core.svc.database.connect()
    await locker.query('begin; lock table noted in access exclusive mode')
    const running = note('running')
    await until(() => !line.isResponsive(1))
    const late = note('late', { timeoutMs: 1 })
    const rest = [note('a'), note('b'), note('urgent', { isUrgent: true }), note('c')]
    await t.rejects(late, { message: /no answer within 1 ms/ })
    await locker.query('commit')
    locker.release()
    await Promise.all([running, ...rest])
    const { rows } = await core.db.query('select text from noted order by at')
    t.same(
      rows.map(({ text }) => text),
      ['first', 'running', 'urgent', 'a', 'b', 'c'],
    )
  },
)

t.test('an answer that came while the process was busy is in time', async (t) => {
  const database = await freshDatabase(t)
  const line = new NotificationConnection({ connectionString: database }, false, () => {})
  t.teardown(() => line.close())
  await line.query('select 1', [], TIMEOUT)
  const askAndBeBusy = async () => {
    const asked = line.query('select 1', [], { timeoutMs: 300 })
    await setImmediate() // It is sent.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
    return asked
  }
  // Postgres may have been busy as well.
  await until(() =>
    askAndBeBusy().then(
      () => true,
      () => false,
    ),
  )
})

t.test('a notification connection that does not answer in time is replaced', async (t) => {
  const database = await freshDatabase(t)
  const line = new NotificationConnection({ connectionString: database }, false, () => {})
  t.teardown(() => line.close())
  await line.query('select 1', [], TIMEOUT)
  const late = line.query('select pg_sleep(600)', [], { timeoutMs: 500 })
  await t.rejects(late, { message: /500 ms/ })
  await until(() =>
    line.query('select 1', [], TIMEOUT).then(
      () => true,
      () => false,
    ),
  )
})

t.test('a server that falls silent right after the connection is made is given up', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const { connect } = pg.Client.prototype as {
    connect: (this: pg.Client) => Promise<pg.Client>
  }
  let isFirst = true
  t.intercept(pg.Client.prototype, 'connect', {
    async value(this: pg.Client) {
      await connect.call(this)
      if (isFirst) proxy.silence()
      isFirst = false
    },
  })
  const errors: Error[] = []
  const line = new NotificationConnection({ connectionString: proxy.url }, true, (error) =>
    errors.push(error),
  )
  t.teardown(() => line.close())
  line.listen('a', () => {})
  await until(() => errors.length > 0)
  t.match(errors[0], { message: 'Query read timeout' })
  proxy.mend()
  await until(() => line.session !== undefined)
})
