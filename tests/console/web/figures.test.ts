/** Says how much of Postgres an open overview takes while events are published. It judges no time: machines differ. */
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { bringToLife, lively } from './support/life.ts'
import { settled, withConsole } from './support/visit.ts'

const SECONDS = 15

t.test('an open overview reads little', async (t) => {
  await withConsole(t, lively(), async (visit) => {
    await bringToLife(t, visit)
    const { svc } = visit.app
    const activeMs = async (): Promise<number> => {
      const { rows } = await svc.database.query(
        `select active_time from pg_stat_database where datname = current_database()`,
      )
      return Number(rows[0].active_time)
    }
    /** In percent of the time of one connection, with an event each second. */
    const share = async (): Promise<number> => {
      const [before, startedMs] = [await activeMs(), performance.now()]
      for (let n = 0; n < SECONDS; n++) {
        await svc.events.publish('order.created', { id: n, total: 50 })
        await wait(1000)
      }
      return ((await activeMs()) - before) / ((performance.now() - startedMs) / 100)
    }
    const alone = await share()
    const page = await visit.signedIn()
    await settled(page)
    const calls: string[] = []
    page.on('request', (request) => calls.push(request.url()))
    const open = await share()
    t.comment(
      `active time of Postgres: ${alone.toFixed(2)} % without a page, ${open.toFixed(2)} % with an open overview, ${calls.length} reads in ${SECONDS} s`,
    )
    // What changes is read at most every 1.5 seconds.
    t.ok(calls.length < SECONDS * 12, `${calls.length} reads`)
  })
})
