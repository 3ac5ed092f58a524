/** What the page reads, and when it reads it again. */
import type { Page, Route } from 'playwright-core'
import type { Test } from 'tap'
import { click, confirm } from '../support/gestures.ts'
import type { Life } from '../support/life.ts'
import { goTo, settled, toasted, type Visit } from '../support/visit.ts'

const NIL = '00000000-0000-0000-0000-000000000000'

export async function readsWhatItShows(t: Test, visit: Visit, life: Life) {
  const page = await visit.signedIn()
  await t.test('a hint that comes during a read is followed by another one', (t) =>
    hinted(t, page, visit),
  )
  // From here on nothing is read for a hint.
  await page.route('**/api/live', (route) => route.abort())
  await page.reload()
  await page.getByText('Not live: reconnecting').waitFor()
  await t.test('names are read once, for however many rows', (t) => namesOnce(t, page, life))
  await t.test('what was changed on the page is shown without a hint', (t) =>
    changed(t, page, visit, life),
  )
  await t.test(
    'a problem stays in sight, and the focus on its button, until the next answer',
    (t) => problemStays(t, page),
  )
  await t.test('what was not looked at, or is only counted up to a bound, is said', (t) =>
    saysWhatItDoesNotKnow(t, page),
  )
  await t.test('another person sees nothing that was read for the former', (t) =>
    anotherPerson(t, page, visit, life),
  )
}

async function hinted(t: Test, page: Page, { app }: Visit) {
  await goTo(page, 'users')
  await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.getByText('Live', { exact: true }).waitFor()
  const held = await nextRead(page, 'users.list', async () => {
    await app.svc.auth.createUser({ email: 'one@example.com', name: 'First hint' })
  })
  const old = await held.fetch()
  await other.getByRole('link', { name: 'First hint' }).waitFor()
  await app.svc.auth.createUser({ email: 'two@example.com', name: 'Second hint' })
  // Where nothing is held, the hint has led to a read by then.
  await other.getByRole('link', { name: 'Second hint' }).waitFor()
  await other.close()
  await held.fulfill({ response: old })
  await page.getByRole('link', { name: 'Second hint' }).waitFor()
  t.pass('without a click')
}

/** Holds the next call of the page, and lets all later ones through. */
async function nextRead(page: Page, call: string, cause: () => Promise<void>): Promise<Route> {
  const url = `**/api/${call}`
  const held = new Promise<Route>((resolve) => {
    void page.route(url, resolve, { times: 1 })
  })
  await cause()
  return held
}

async function namesOnce(t: Test, page: Page, { failing }: Life) {
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/webhooks.list')) asked.push(String(request.postData()))
  })
  await goTo(page, `deliveries?webhookId=${failing}`)
  await page.getByRole('row').nth(1).getByRole('link').first().click()
  await page.getByRole('link', { name: /^event / }).click()
  await page.getByRole('heading', { name: 'What came of it' }).waitFor()
  await page.getByRole('link', { name: 'Warehouse' }).first().waitFor()
  t.ok((await page.getByRole('row').count()) > 1, 'an event with what came of it')
  t.strictSame(asked, ['{"limit":200}'], 'on three screens with names')
}

async function changed(t: Test, page: Page, visit: Visit, { healthy, keyId }: Life) {
  await goTo(page, `keys/${keyId}`)
  await toasted(page, 'Disabled: requests with it are refused', () => click(page, 'Disable'))
  await click(page, 'Enable')
  await page.getByRole('button', { name: 'Disable', exact: true }).waitFor()
  await goTo(page, `webhooks/${healthy}`)
  await click(page, 'Pause')
  await confirm(page, 'Pause')
  await page.getByText(/^Paused since/).waitFor()
  await click(page, 'Resume')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await visit.signedIn()
  await goTo(page, 'sessions')
  const ends = page.getByRole('button', { name: 'End', exact: true })
  await ends.first().waitFor()
  const before = await ends.count()
  await toasted(page, 'Session ended', () => ends.first().click())
  await ends.nth(before - 1).waitFor({ state: 'detached' })
  t.equal(await ends.count(), before - 1)
}

async function problemStays(t: Test, page: Page) {
  await page.route('**/api/health.get', (route) => route.fulfill({ status: 503 }), { times: 1 })
  await goTo(page, 'health')
  const again = page.getByRole('alert').getByRole('button', { name: 'Try again' })
  await page.getByText('The database does not answer.').waitFor()
  await again.focus()
  const held = await nextRead(page, 'health.get', () => again.click())
  t.equal(await page.evaluate('document.activeElement.innerText'), 'Try again')
  await held.continue()
  await page.getByText('All is well.').waitFor()
  await again.waitFor({ state: 'detached' })
}

async function saysWhatItDoesNotKnow(t: Test, page: Page) {
  for (const [call, path] of [
    ['events.list', 'events?text=nowhere'],
    ['deliveries.list', 'deliveries?status=failed'],
  ] as const) {
    const asked: unknown[] = []
    await page.route(`**/api/${call}`, async (route) => {
      asked.push(route.request().postDataJSON())
      const json = { items: [], next: asked.length < 2 ? NIL : null, complete: asked.length > 1 }
      await route.fulfill({ json })
    })
    await goTo(page, path)
    await page.getByRole('heading', { name: 'Nothing found so far' }).waitFor()
    await click(page, 'Search further')
    await page.getByText('Clear some').waitFor()
    t.match(asked, [{}, { after: NIL }], path)
    await page.unroute(`**/api/${call}`)
  }
  const many = { count: 1000, atLeast: true }
  await page.route('**/api/deadLetters.count', (route) => route.fulfill({ json: many }))
  await page.route('**/api/webhooks.count', (route) => route.fulfill({ json: { count: 77 } }))
  await goTo(page, '')
  await page.getByText('In all: 77 disabled, 77 failing, more than 1000 dead letters').waitFor()
  for (const call of ['deadLetters', 'webhooks']) await page.unroute(`**/api/${call}.count`)
  await page.route('**/api/stats.get', async (route) => {
    const json = await (await route.fetch()).json()
    for (const [at, { deliveries }] of json.points.entries())
      deliveries.delivered = at < Math.floor(json.points.length / 2) ? 10 : 10.5
    await route.fulfill({ json })
  })
  await page.reload()
  await page.getByText(/^Delivered \+[579] %$/).waitFor()
  await page.unroute('**/api/stats.get')
}

async function anotherPerson(t: Test, page: Page, { app }: Visit, { userId }: Life) {
  const webhook = page.getByLabel('Webhook', { exact: true })
  await goTo(page, 'deliveries')
  await webhook.waitFor()
  t.match(await webhook.innerText(), /Billing|Accounting/)
  const { key } = await app.svc.auth.createApiKey({ userId, scopes: ['webhooks:manage'] })
  await click(page, 'Sign out')
  await page.getByLabel('API key').fill(key)
  await click(page, 'Sign in')
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
  await settled(page)
  await webhook.waitFor()
  t.strictSame((await webhook.innerText()).trim().split(/\s*\n\s*/), ['Any', 'Warehouse'])
}
