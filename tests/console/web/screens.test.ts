/** Every screen, at both widths and in both schemes: it shows what there is, and axe finds no fault. */
import t from 'tap'
import { bringToLife, lively } from './support/life.ts'
import {
  NARROW,
  screenshot,
  sidewaysPixels,
  WIDE,
  wcagProblems,
  withConsole,
} from './support/visit.ts'

t.test('each screen shows its part, by WCAG AA, wide and narrow, light and dark', async (t) => {
  await withConsole(t, lively(), async (visit) => {
    const { healthy, failing, userId, keyId } = await bringToLife(t, visit)
    const [letter] = await visit.app.svc.webhooks.listDeadLetters(failing)
    const delivery = `deliveries/${failing}/${letter!.deliveryId}`
    const event = `events/order.created/${letter!.eventId}?tenant=acme`
    // Path, heading, and a text that only its data has.
    const screens = [
      ['', 'Overview', 'Needs attention'],
      ['webhooks', 'Webhooks', 'Warehouse'],
      ['webhooks/new', 'New webhook', 'An order was placed and paid.'],
      [`webhooks/${healthy}`, 'Billing', 'payload.total'],
      [`webhooks/${failing}/deliveries`, 'Warehouse', '503'],
      [`webhooks/${failing}/dead-letters`, 'Warehouse', '503'],
      [`webhooks/${healthy}/settings`, 'Billing', 'Which of these events'],
      ['deliveries', 'Deliveries', 'Warehouse'],
      [delivery, 'order.created', 'upstream unavailable'],
      ['dead-letters', 'Dead letters', '503'],
      ['events', 'Events', 'order.created'],
      [event, 'order.created', 'What came of it'],
      ['inbound', 'Inbound', 'Refused'],
      ['catalogue', 'Catalogue', 'An order was placed and paid.'],
      ['users', 'Users', 'Ada Lovelace'],
      [`users/${userId}`, 'Ada Lovelace', 'Reporting'],
      ['keys', 'API keys', 'Reporting'],
      [`keys/${keyId}`, 'Reporting', 'Usage'],
      ['tenants', 'Tenants', 'acme'],
      ['sessions', 'Sessions', 'This one'],
      ['audit', 'Audit', 'webhook.create'],
      ['health', 'Health', 'Database'],
    ] as const
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await visit.signedIn({ colorScheme })
      for (const [path, heading, text] of screens) {
        await page.setViewportSize(WIDE)
        await page.goto(`${visit.url}/console/${path}`)
        await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
        await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor()
        t.strictSame(await wcagProblems(page), [], `${path} ${colorScheme}`)
        const name = `${path.replace(/[/?].*/, '')}-${heading}`.toLowerCase().replace(/\W+/g, '-')
        await screenshot(page, `${name}-1440-${colorScheme}`)
        await page.setViewportSize(NARROW)
        t.equal(await sidewaysPixels(page), 0, `${path} scrolls sideways at 390`)
        await screenshot(page, `${name}-390-${colorScheme}`)
      }
      t.strictSame(await wcagProblems(page), [], `narrow, ${colorScheme}`)
    }
  })
})
