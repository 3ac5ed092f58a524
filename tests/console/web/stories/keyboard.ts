/** The keyboard alone, from signing in to a new webhook. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { until } from '../../../support/until.ts'
import { BOOTSTRAP_KEY } from '../../support/host.ts'
import type { Visit } from '../support/visit.ts'

/** What has the focus, as a screen reader would name it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`(({ activeElement: one }) =>
    (one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent).trim()
  )(document)`)

/** Tabs on until something has the focus; a page has no more stops than this. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let stops = 0; stops < 80; stops++) {
    if ((await focused(page)) === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`"${name}" cannot be reached with Tab`)
}

export async function worksWithTheKeyboard(t: Test, { app, url, open }: Visit) {
  const { page } = await open()
  await page.goto(`${url}/console`)
  await until(async () => (await focused(page)) === 'API key')
  await page.keyboard.type(BOOTSTRAP_KEY)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()

  await page.keyboard.press('Tab')
  await tabTo(page, 'Skip to the content')
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
  t.not(outline, 'none', 'the focus is visible')
  await page.keyboard.press('Enter')
  await until(async () => (await page.evaluate('document.activeElement.id')) === 'screen')

  await page.keyboard.press('/')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('webh')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  await until(async () => (await focused(page)) === 'Webhooks')

  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Dead letters').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.type('gd')
  await page.getByRole('heading', { name: 'Deliveries', level: 1 }).waitFor()
  await page.keyboard.type('gw')
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()

  await tabTo(page, 'New webhook')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'New webhook' }).waitFor()
  await tabTo(page, 'Address')
  await page.keyboard.type('https://example.com/hooks')
  await tabTo(page, 'All events')
  await page.keyboard.press('Space')
  await tabTo(page, 'Create webhook')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo(page, 'Done')
  await page.keyboard.press('Enter')
  await until(
    () => page.url(),
    (address) => /webhooks\/[0-9a-f-]{36}$/.test(address),
  )
  t.match(await app.svc.webhooks.list({ limit: 1 }), [
    { url: 'https://example.com/hooks', events: ['*'] },
  ])

  await page.getByRole('button', { name: 'Send a test' }).waitFor()
  await tabTo(page, 'Send a test')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  for (let stops = 0; stops < 12; stops++) {
    await page.keyboard.press('Tab')
    const within = await page.evaluate("document.activeElement.matches('body, dialog, dialog *')")
    t.ok(within, 'Tab stays within the dialog')
  }
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  // And the focus goes back.
  await until(async () => (await focused(page)) === 'Send a test')
}
