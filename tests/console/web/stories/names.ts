/** Things are found by their names, however many there are. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { until } from '../../../support/until.ts'
import type { Life } from '../support/life.ts'
import { goTo, settled, type Visit } from '../support/visit.ts'

/** More than a page reads for the choice of a webhook. */
const MANY = 205

export async function findsByName(t: Test, page: Page, { app }: Visit, { failing }: Life) {
  const { webhooks } = app.svc
  await goTo(page, 'audit?action=webhook.create&tenant=acme')
  const made = (name: string) => page.getByRole('row', { name })
  await made('Warehouse').waitFor()
  await page.getByLabel('Tenant').fill('(operator)')
  await made('Billing').waitFor()
  t.equal(await made('Warehouse').count(), 0, 'what is of no tenant')
  for (let n = 0; n < MANY; n++) {
    const url = `http://127.0.0.1:9/${n}`
    await webhooks.register({ url, events: ['order.shipped'], label: `Filler ${n}` })
  }
  await goTo(page, 'webhooks')
  await page.getByLabel('Name or address').fill('WARE')
  await page.getByRole('link', { name: 'Warehouse' }).waitFor()
  await settled(page)
  await until(async () => (await page.getByRole('row').count()) === 2)
  t.match(page.url(), /search=WARE/)
  await page.getByLabel('Tenant').fill('(operator)')
  await page.getByText('No webhook matches').waitFor()
  await goTo(page, 'users')
  await page.getByLabel('Name or e-mail').fill('love')
  await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
  await page.getByLabel('Name or e-mail').fill('nobody of this name')
  await page.getByText('No user matches').waitFor()

  const calls: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/webhooks.list')) calls.push(String(request.postData()))
  })
  // As in a new window: nothing is kept.
  await goTo(page, 'deliveries')
  await page.reload()
  await page.getByRole('link', { name: 'webhook Warehouse' }).first().waitFor()
  await settled(page)
  t.equal(
    calls.filter((body) => body.includes('"ids"')).length,
    1,
    'all names of a list in one read',
  )
  const choice = page.getByLabel('Webhook', { exact: true })
  await choice.fill('wareh')
  const option = page.locator('datalist option[value^="Warehouse"]')
  await until(async () => (await option.count()) === 1)
  await choice.fill((await option.getAttribute('value'))!)
  await until(() => page.url().includes(failing))
  await page.getByRole('link', { name: 'webhook Billing' }).first().waitFor({ state: 'detached' })
}
