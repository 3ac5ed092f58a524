/** An operator makes a link for a customer, who sees by it what the operator chose, once. */
import { spawn } from 'node:child_process'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { exact } from '../../../../packages/console/web/src/text/format.ts'
import { folderOf } from '../../../support/program.ts'
import { until } from '../../../support/until.ts'
import { click, confirm } from '../support/gestures.ts'
import type { Life } from '../support/life.ts'
import { goTo, screenshot, settled, wcagProblems, type Visit } from '../support/visit.ts'

/** The option `returnUrl` of the host. */
export const RETURN = '/of-the-application'

export async function makesAPortalLink(t: Test, page: Page, visit: Visit) {
  const { open } = visit
  await goTo(page, 'tenants')
  await page.getByRole('button', { name: 'Link for acme' }).click()
  await page.getByText('Its webhooks with their secrets, their deliveries').waitFor()
  await click(page, 'Webhooks and keys')
  await page.getByText('Also its API keys').waitFor()
  t.ok(await page.getByRole('checkbox', { name: 'keys:write' }).isChecked())
  await click(page, 'Everything')
  await page.getByText('Also its inbound requests').waitFor()
  t.ok(await page.getByRole('checkbox', { name: 'audit:read' }).isChecked())
  await click(page, 'Webhooks')
  await page.getByRole('checkbox', { name: 'webhooks:write' }).uncheck()
  await page.getByText('A choice of your own').waitFor()
  await confirm(page, 'Make link')
  const link = await page.getByRole('dialog').locator('.secret code').innerText()
  t.equal(
    await page.getByRole('link', { name: 'Open as acme' }).getAttribute('href'),
    link,
    'beside the button that copies it',
  )
  await confirm(page, 'Done')
  await offersWhatDiffers(t, page)
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
  await customer.getByRole('heading', { name: 'Your link has expired', level: 1 }).waitFor()
  // A customer has no key: the field for one is behind a line.
  t.equal(await customer.getByLabel('API key').isVisible(), false)
  const back = customer.getByRole('link', { name: 'Back to the application' })
  t.equal(await back.getAttribute('href'), RETURN)
  t.equal(await back.getAttribute('target'), '_top', 'a frame is left')
  t.strictSame(await wcagProblems(customer), [])
  await screenshot(customer, 'link-expired-1440-light')
  await losesItsSession(t, customer, visit)
}

/** A session without rights over keys cannot give any: the dialog offers no preset with them. */
async function offersWhatDiffers(t: Test, page: Page) {
  await page.route('**/api/portal.rights', async (route) => {
    const { items } = (await (await route.fetch()).json()) as { items: { name: string }[] }
    await route.fulfill({ json: { items: items.filter(({ name }) => !name.startsWith('keys:')) } })
  })
  await page.reload()
  await page.getByRole('button', { name: 'Link for acme' }).click()
  const presets = page.getByRole('group', { name: 'Rights that are often given' })
  const pressed = presets.getByRole('button', { pressed: true })
  await presets.getByRole('button', { name: 'Everything' }).waitFor()
  t.same(await presets.getByRole('button').allInnerTexts(), ['Webhooks', 'Everything'])
  t.same(await pressed.allInnerTexts(), ['Webhooks'])
  await click(page, 'Everything')
  await until(async () => (await pressed.innerText()) === 'Everything')
  await page.keyboard.press('Escape')
  await page.unroute('**/api/portal.rights')
}

/** The page of a customer whose session ends asks for no key either. */
async function losesItsSession(t: Test, customer: Page, { app, url }: Visit) {
  await customer.goto(`${url}${await app.svc.console.portalLink({ tenant: 'acme' })}`)
  await customer.getByText('Live', { exact: true }).waitFor()
  await app.svc.console.endSessions({ tenant: 'acme' })
  const dialog = customer.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByRole('link', { name: 'Back to the application' }).waitFor()
  t.equal(await dialog.getByLabel('API key').count(), 0)
}

/** What a customer pays for, and how it reads its events itself: by the program that the page shows. */
export async function servesCustomers(t: Test, { app, open, url }: Visit, { userId }: Life) {
  const customer = (await open()).page
  const can = ['keys:read', 'events:read', 'users:read', 'audit:read']
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

  for (const [screen, row] of [
    ['Users', 'Ada Lovelace'],
    ['Audit', 'key.create'],
  ] as const) {
    await customer.getByRole('link', { name: screen, exact: true }).click()
    await customer.getByRole('row').getByText(row).first().waitFor()
    t.equal(await customer.getByRole('columnheader', { name: 'Tenant' }).count(), 0, screen)
  }
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
