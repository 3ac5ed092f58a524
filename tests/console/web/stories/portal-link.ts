/** An operator makes a link for a customer, who sees by it what the operator chose, once. */
import { spawn } from 'node:child_process'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { exact } from '../../../../packages/console/web/src/text/format.ts'
import { folderOf } from '../../../support/program.ts'
import { until } from '../../../support/until.ts'
import { click, confirm } from '../support/gestures.ts'
import type { Life } from '../support/life.ts'
import { goTo, settled, type Visit } from '../support/visit.ts'

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

/** What a customer pays for, and how it reads its events itself: by the program that the page shows. */
export async function servesCustomers(t: Test, { app, open, url }: Visit, { userId }: Life) {
  const customer = (await open()).page
  const can = ['keys:read', 'events:read']
  await customer.goto(`${url}${await app.svc.console.portalLink({ tenant: 'acme', can })}`)
  await customer.getByRole('link', { name: 'API keys', exact: true }).click()
  const row = customer.getByRole('row').filter({ hasText: 'Nightly' })
  await row.getByText('4 of 5').waitFor()
  await row.getByText('Plan starter').waitFor()
  await row.getByRole('link', { name: 'Nightly' }).click()
  await customer.getByRole('main').getByText('Plan starter').waitFor()
  const { auth } = app.svc
  const quota = { limit: 100, period: 'month' as const }
  const { id } = await auth.createApiKey({ userId, label: 'Monthly', quota })
  const { usage } = await auth.getApiKey({ id, include: 'usage' })
  await goTo(customer, `keys/${id}`)
  await customer
    .getByRole('main')
    .getByText(`resets ${exact(usage!.quota!.resetsAt!).slice(0, 16)}`)
    .waitFor()

  await customer.getByRole('link', { name: 'Events', exact: true }).click()
  await click(customer, 'Read the feed')
  const program = await customer
    .getByRole('dialog')
    .getByLabel('reader', { exact: true })
    .innerText()
  await settled(customer)
  await customer.keyboard.press('Escape')
  const { key } = await app.svc.auth.createApiKey({ userId, scopes: ['events:read'] })
  const cwd = await folderOf(t, { 'reader.mjs': program })
  const reader = spawn(process.execPath, ['reader.mjs'], { cwd, env: { ...process.env, KEY: key } })
  let printed = ''
  for (const stream of [reader.stdout, reader.stderr])
    stream.on('data', (data) => (printed += String(data)))
  const ended = new Promise((resolve) => reader.once('close', resolve))
  try {
    await until(() => printed.includes('order.created'))
    await app.svc.events.publish(
      'order.created',
      { id: 9, total: 9 },
      { tenant: 'acme', id: 'F-9' },
    )
    await app.svc.events.publish('order.created', { id: 8, total: 8 }, { id: 'not-of-acme' })
    await until(() => printed.includes('F-9'))
  } finally {
    reader.kill()
    await ended
  }
  t.notMatch(printed, /not-of-acme|Error/)
}
