/** What an operator sees when something beside the page goes wrong: nothing typed or shown once is lost. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { until } from '../../../support/until.ts'
import { BOOTSTRAP_KEY } from '../../support/host.ts'
import { click, confirm } from '../support/gestures.ts'
import type { Life } from '../support/life.ts'
import { goTo, type Visit } from '../support/visit.ts'

export async function hasBadDays(t: Test, visit: Visit, life: Life) {
  const page = await visit.signedIn()
  await t.test('the live view comes back after an answer that ends it', (t) => live(t, page))
  await t.test('a hidden page holds no stream, and catches up when it is shown', (t) =>
    hidden(t, page, visit),
  )
  await t.test('however many windows are open, they share one stream, and all are live', (t) =>
    windows(t, page, visit),
  )
  await t.test('a secret stays on show at Escape, and can be copied by hand', (t) =>
    secret(t, page, life),
  )
  await t.test('a session that ends keeps the page and what was typed', (t) =>
    sessionEnds(t, page, visit, life),
  )
}

async function live(t: Test, page: Page) {
  let refused = 0
  await page.route('**/api/live', (route) => {
    refused += 1
    return refused > 2 ? route.continue() : route.fulfill({ status: 503 })
  })
  await page.reload()
  await page.getByText('Live', { exact: true }).waitFor()
  t.equal(refused, 3)
  await page.unroute('**/api/live')
}

async function hidden(t: Test, page: Page, { app }: Visit) {
  const show = (hidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} })
      document.dispatchEvent(new Event('visibilitychange'))`,
    )
  await goTo(page, 'webhooks')
  await page.getByText('Live', { exact: true }).waitFor()
  await show(true)
  await page.getByText('Not live: reconnecting').waitFor()
  const url = 'http://127.0.0.1:9/made-meanwhile'
  const { id } = await app.svc.webhooks.register({ url, events: ['*'], label: 'Made meanwhile' })
  await show(false)
  await page.getByRole('link', { name: 'Made meanwhile' }).waitFor()
  await app.svc.webhooks.delete(id)
  t.pass('without a reload')
}

/** More than the connections that a browser has to a host. */
const WINDOWS = 8

async function windows(t: Test, page: Page, { app, url }: Visit) {
  const pages = [page]
  let streams = 0
  page.context().on('request', (request) => {
    if (request.url().endsWith('/api/live')) streams += 1
  })
  while (pages.length < WINDOWS) {
    const other = await page.context().newPage()
    pages.push(other)
    await other.goto(`${url}/console/webhooks`)
    await other.getByText('Live', { exact: true }).waitFor()
  }
  t.equal(streams, 0, 'that of the first window is for all')
  await goTo(page, 'webhooks')
  const [label, target] = ['Seen everywhere', 'http://127.0.0.1:9/everywhere']
  const { id } = await app.svc.webhooks.register({ url: target, events: ['*'], label })
  for (const one of pages) await one.getByRole('link', { name: label }).waitFor()
  // Where the one with the stream is left, another takes over.
  const place = page.url()
  await page.goto('about:blank')
  const [next] = pages.slice(1)
  await until(() => streams === 1)
  await next!.getByText('Live', { exact: true }).waitFor()
  for (const one of pages.slice(1)) await one.close()
  await page.goto(place)
  await page.getByText('Live', { exact: true }).waitFor()
  await app.svc.webhooks.delete(id)
}

async function secret(t: Test, page: Page, { healthy }: Life) {
  await goTo(page, `webhooks/${healthy}`)
  await click(page, 'Rotate secret')
  await confirm(page, 'Rotate')
  const dialog = page.getByRole('dialog')
  const shown = await dialog.locator('.secret code').innerText()
  for (let n = 0; n < 3; n++) await page.keyboard.press('Escape')
  t.equal(await dialog.locator('.secret code').innerText(), shown)
  // As a browser does on plain HTTP, or in a frame that may not.
  await page.evaluate(
    "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined })",
  )
  await dialog.getByRole('button', { name: 'Copy secret' }).click()
  await dialog.getByRole('textbox', { name: 'secret' }).waitFor()
  // It is selected after it is painted.
  await until(async () => (await page.evaluate('getSelection().toString()')) === shown)
  await confirm(page, 'Done')
}

async function sessionEnds(t: Test, page: Page, { app }: Visit, { healthy }: Life) {
  await goTo(page, `webhooks/${healthy}/settings`)
  await page.getByLabel('Label').fill('Typed before the end')
  await app.svc.database.query('delete from svc."__svc.console.sessions"')
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('API key').fill(BOOTSTRAP_KEY)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
  t.equal(await page.getByLabel('Label').inputValue(), 'Typed before the end')
  await click(page, 'Save changes')
  await page.locator('.toasts').getByText('Saved', { exact: true }).waitFor()
  t.equal((await app.svc.webhooks.get(healthy)).label, 'Typed before the end')
}
