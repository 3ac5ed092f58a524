/** What an operator does on the page, in one browser and on one host. */
import t, { type Test } from 'tap'
import type { Page } from 'playwright-core'
import { hasBadDays } from './stories/bad-days.ts'
import { seesKeysThatEnd, worksWithKeys } from './stories/keys.ts'
import { worksWithTheKeyboard } from './stories/keyboard.ts'
import { makesAPortalLink, servesCustomers } from './stories/portal-link.ts'
import { answers } from './stories/questions.ts'
import { readsWhatItShows } from './stories/reading.ts'
import { stopsAndGoesOn } from './stories/stopping.ts'
import { worksWithWebhooks } from './stories/webhooks.ts'
import { bringToLife, lively } from './support/life.ts'
import { withConsole } from './support/visit.ts'

t.test('an operator uses the page', async (t) => {
  await withConsole(t, lively(), async (visit) => {
    const life = await bringToLife(t, visit)
    const page = await visit.signedIn()
    await paints(t, page)
    await t.test('and has each question answered within three clicks', (t) => answers(t, page))
    await t.test('and makes a link into the portal', (t) => makesAPortalLink(t, page, visit))
    await t.test('and works with webhooks, deliveries and inbound requests', (t) =>
      worksWithWebhooks(t, page, visit, life),
    )
    await t.test('and stops deliveries, and has events handled again', (t) =>
      stopsAndGoesOn(t, page, visit, life),
    )
    await t.test('and works with keys', (t) => worksWithKeys(t, page, visit, life))
    await t.test('and sees keys that end', (t) => seesKeysThatEnd(t, page, visit, life))
    await t.test('and a customer sees its plan, and reads its feed', (t) =>
      servesCustomers(t, visit, life),
    )
    await t.test('and sees what is there now', (t) => readsWhatItShows(t, visit, life))
    await t.test('and loses nothing on a bad day', (t) => hasBadDays(t, visit, life))
    await t.test('and reaches everything with the keyboard, without losing the focus', (t) =>
      worksWithTheKeyboard(t, visit),
    )
  })
})

/** Says how long the first paint took, of a page that was there before. It judges no time: machines differ. */
async function paints(t: Test, page: Page) {
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.reload()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const ms = await page.evaluate(
    "performance.getEntriesByName('first-contentful-paint')[0]?.startTime",
  )
  t.equal(asked.filter((path) => path === '/console/api/session').length, 1, 'preloaded, once')
  t.comment(`first contentful paint of the overview: ${Math.round(Number(ms))} ms`)
}
