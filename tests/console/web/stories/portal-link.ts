/** An operator makes a link for a customer, who sees by it what the operator chose, once. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { confirm } from '../support/gestures.ts'
import { goTo, type Visit } from '../support/visit.ts'

export async function makesAPortalLink(t: Test, page: Page, { open }: Visit) {
  await goTo(page, 'tenants')
  await page.getByRole('button', { name: 'Link for acme' }).click()
  await page.getByRole('checkbox', { name: 'webhooks:write' }).uncheck()
  await confirm(page, 'Make link')
  const link = await page.getByRole('dialog').locator('.secret code').innerText()
  await confirm(page, 'Done')
  const customer = (await open()).page
  await customer.goto(link)
  await customer.getByRole('link', { name: 'Webhooks', exact: true }).click()
  await customer.getByRole('link', { name: 'Warehouse' }).waitFor()
  t.equal(await customer.getByRole('link', { name: 'New webhook' }).count(), 0)

  // The link once more: the page says so, and whose session it shows.
  await customer.goto(link)
  const used = customer.getByRole('alert').getByText('This link was used or has expired.')
  await used.waitFor()
  await customer.getByRole('alert').getByText('for the tenant acme').waitFor()
  await customer.getByRole('button', { name: 'Continue' }).click()
  await used.waitFor({ state: 'detached' })
  await customer.goto(link)
  await customer.getByRole('button', { name: 'Sign out' }).click()
  await customer.getByRole('heading', { name: 'Sign in' }).waitFor()
  await used.waitFor()
  // A customer has no key: the field for one is behind a line.
  t.equal(await customer.getByLabel('API key').isVisible(), false)
}
