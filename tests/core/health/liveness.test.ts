import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { isAway } from '../../../packages/core/src/postgres/connection-errors.ts'
import { Liveness } from '../../../packages/core/src/health/liveness.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

const WAITS = { pingAfterMs: 5, answerMs: 20 }
const SILENT = () => new Promise<never>(() => {})
const unavailable = { code: 'SVC_UNAVAILABLE', statusCode: 503 }

t.test('a statement is given up where Postgres answers nothing', async (t) => {
  const liveness = new Liveness(SILENT, WAITS)
  const givenUp = liveness.bounded({ query: SILENT }).query('select 1')
  await t.rejects(givenUp, unavailable)
  t.ok(isAway(await givenUp.catch((error: unknown) => error)), 'for want of the database')
  const away = new Liveness(async () => Promise.reject(new Error('refused')), WAITS)
  await t.rejects(away.bounded({ query: SILENT }).query('select 1'), unavailable)
})

t.test('a statement takes its time while Postgres answers others', async (t) => {
  let asked = 0
  const liveness = new Liveness(async () => asked++, WAITS)
  const slow = Promise.withResolvers<{ rows: string[] }>()
  const answer = liveness.bounded({ query: () => slow.promise }).query('select slow()')
  await until(() => asked >= 3)
  slow.resolve({ rows: ['late'] })
  t.strictSame(await answer, { rows: ['late'] })
  const before = asked
  await pause(5 * WAITS.pingAfterMs)
  t.equal(asked, before, 'nothing is asked once it is done')
})

t.test('what a statement answers, and what it fails with, comes through', async (t) => {
  const liveness = new Liveness(SILENT, WAITS)
  const db = { query: async (text: string) => ({ rows: [text] }) }
  t.strictSame(await liveness.bounded(db).query('select 1'), { rows: ['select 1'] })
  const failing = { query: async () => Promise.reject(new Error('syntax')) }
  await t.rejects(liveness.bounded(failing).query('selct 1'), { message: 'syntax' })
})

t.test('a transaction that was given up is rolled back when Postgres answers again', async (t) => {
  const liveness = new Liveness(SILENT, WAITS)
  const back = Promise.withResolvers<void>()
  let end = ''
  const transact = async <T>(run: (db: { query: typeof SILENT }) => Promise<T>): Promise<T> => {
    try {
      const result = await run({ query: SILENT })
      end = 'commit'
      return result
    } catch (error) {
      end = 'rollback'
      throw error
    }
  }
  await t.rejects(
    liveness.transaction(transact, () => back.promise),
    unavailable,
  )
  back.resolve()
  await until(() => end !== '')
  t.equal(end, 'rollback')
  await liveness.transaction(transact, async () => {})
  t.equal(end, 'commit')
})

t.test('a long statement on a working Postgres is not given up', async (t) => {
  const { core } = await startHost(t)
  // Longer than a request waits for a Postgres that answers nothing.
  const long = async () => {
    try {
      return await core.requestDb.query(`select 'late' as answer from pg_sleep(2.5)`)
    } catch (error) {
      // That of a busy machine may answer nothing in time: then once more.
      if ((error as { code?: string }).code === unavailable.code) return undefined
      throw error
    }
  }
  const answer = await until(long)
  t.strictSame(answer?.rows, [{ answer: 'late' }])
})
