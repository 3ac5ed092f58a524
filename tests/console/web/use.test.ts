/** What an operator does on the page, in one browser and on one host. */
import t, { type Test } from 'tap'
import type { Page } from 'playwright-core'
import { setTimeout } from 'node:timers/promises'
import { hasBadDays } from './stories/bad-days.ts'
import { seesKeysThatEnd, worksWithKeys } from './stories/keys.ts'
import { worksWithTheKeyboard } from './stories/keyboard.ts'
import { makesAPortalLink, RETURN, servesCustomers } from './stories/portal-link.ts'
import { answers } from './stories/questions.ts'
import { readsWhatItShows } from './stories/reading.ts'
import { stopsAndGoesOn } from './stories/stopping.ts'
import { worksWithWebhooks } from './stories/webhooks.ts'
import { bringToLife, lively } from './support/life.ts'
import { goTo, settled, withConsole } from './support/visit.ts'

t.test('an operator uses the page', async (t) => {
  await withConsole(t, lively({ console: { returnUrl: RETURN } }), async (visit) => {
    const life = await bringToLife(t, visit)
    const page = await visit.signedIn()
    await paints(t, page)
    await t.test('and the overview stays in place while it is read', (t) => staysInPlace(t, page))
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

t.test('a new host says how it begins', async (t) => {
  await withConsole(t, { webhooks: { allowedEvents: [] } }, async ({ app, signedIn }) => {
    const page = await signedIn()
    await goTo(page, 'webhooks/new')
    await page.getByText('There is no event to choose from yet').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'the catalogue' }).click()
    await page.getByText('allowedEvents').waitFor()
    await goTo(page, 'keys')
    await page.getByRole('button', { name: 'New key' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('First user')
    await dialog.getByLabel('E-mail').fill('first@example.com')
    await dialog.getByLabel('Label').fill('First key')
    // A plan, an address or a scope may refuse the key: the user is not made twice.
    await page.route('**/api/keys.create', (route) => route.fulfill({ status: 500 }), { times: 1 })
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('Copy it now').waitFor()
    const [user, ...others] = await app.svc.auth.listUsers({})
    t.match(user, { name: 'First user', email: 'first@example.com' })
    t.same(others, [])
    t.match(await app.svc.auth.listApiKeys({}), [{ userId: user!.id, label: 'First key' }])
  })
})

/** However late each answer is. As a share of the page, and of how far it moves: 0.1 is held to be good. */
async function staysInPlace(t: Test, page: Page) {
  let asked = 0
  await page.route('**/api/*.*', async (route) => {
    asked += 1
    await setTimeout(200 + ((asked * 7) % 10) * 80)
    await route.continue()
  })
  for (const path of ['', 'deliveries', 'health']) {
    await goTo(page, path)
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await settled(page)
    const shift = Number(
      await page.evaluate(`new Promise((told) => {
        let sum = 0
        const add = (list) => list.getEntries().forEach(({ value }) => (sum += value))
        new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => told(sum), 300)
      })`),
    )
    t.ok(shift < 0.1, `${path || 'overview'}: ${shift.toFixed(3)}`)
  }
  await page.unroute('**/api/*.*')
  await goTo(page, '')
  await page.reload()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}

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
