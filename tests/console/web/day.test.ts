/** The work of a day: what an operator reads, does and finds, on a host of its own. */
import t from 'tap'
import { readsDeliveries } from './stories/deliveries.ts'
import { doesItsJobs } from './stories/jobs.ts'
import { findsByName } from './stories/names.ts'
import { bringToLife, lively } from './support/life.ts'
import { withConsole } from './support/visit.ts'

t.test('an operator does the work of a day', async (t) => {
  await withConsole(t, lively(), async (visit) => {
    const life = await bringToLife(t, visit)
    const page = await visit.signedIn()
    await t.test('jobs, each within three clicks', (t) => doesItsJobs(t, page, visit, life))
    await t.test('and reads what became of deliveries', (t) => readsDeliveries(t, page, visit))
    await t.test('and finds things by their names', (t) => findsByName(t, page, visit, life))
  })
})
