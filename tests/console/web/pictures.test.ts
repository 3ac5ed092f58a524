/**
 * The pictures of docs/console: each shows what its page says of it. `UPDATE_PICTURES=1` takes them anew.
 * They are not compared: fonts differ from machine to machine.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { until } from '../../support/until.ts'
import { bringToLife, lively } from './support/life.ts'
import { goTo, settled, withConsole, type Visit } from './support/visit.ts'

const DOCS = join(import.meta.dirname, '../../../docs/console')
const isUpdate = process.env['UPDATE_PICTURES'] === '1'
/** The hour of the pictures, whenever they are taken. */
const NOW = '2026-03-12T14:00:00.000Z'
const HOUR_MS = 3600_000

t.test('the pictures of the docs show the screens as they are', async (t) => {
  const theme = { name: 'Demo', accent: '#2447d3' }
  await withConsole(t, lively({ console: { theme } }), async (visit) => {
    const { failing } = await bringToLife(t, visit)
    await publishMore(visit)
    const [letter] = await visit.app.svc.webhooks.listDeadLetters(failing)
    const page = await visit.signedIn({
      viewport: { width: 1280, height: 860 },
      colorScheme: 'light',
      timezoneId: 'UTC',
    })
    await atNow(page)
    await page.reload()

    const numbers = ['Delivered', 'Failed, tried again', 'Gone dead', 'Arrived', 'Waiting']
    const panels = ['Attempts', 'How long receivers take', 'Requests with API keys', 'Came in last']
    const overview = ['Overview', 'Needs attention', ...panels]
    await picture(t, page, 'overview', '', overview, [...numbers, 'Warehouse', '3 dead letters'])

    const path = `deliveries/${failing}/${letter!.deliveryId}`
    const delivery = ['order.created', 'Attempt 2', 'Answer', 'Request']
    await picture(t, page, 'delivery', path, delivery, [
      '503',
      'upstream unavailable',
      'Send again',
    ])
  })
})

/** Enough for a chart: all are delivered. */
async function publishMore({ app }: Visit): Promise<void> {
  const { events, webhooks } = app.svc
  const more = Array.from({ length: 126 }, (_, n) => ({ payload: { id: n + 4, total: 10 + n } }))
  for (const { payload } of more) await events.publish('order.created', payload)
  await until(
    () => webhooks.stats(),
    ({ points }) => points.reduce((sum, { deliveries }) => sum + deliveries.delivered, 0) === 128,
  )
}

/** The page has the time of the pictures: all times that it asks with and gets are moved. */
async function atNow(page: Page): Promise<void> {
  // Whole hours, as the charts have.
  const shiftMs = Date.parse(NOW) - Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const moved = (text: string, ms: number) =>
    text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) =>
      new Date(Date.parse(time) + ms).toISOString(),
    )
  await page.clock.setFixedTime(Date.now() + shiftMs)
  await page.route(/\/console\/api\/(?!live)/, async (route) => {
    const asked = route.request().postData()
    const response = await route.fetch(asked === null ? {} : { postData: moved(asked, -shiftMs) })
    await route.fulfill({ response, body: moved(await response.text(), shiftMs) })
  })
}

async function picture(
  t: Test,
  page: Page,
  name: string,
  path: string,
  headings: string[],
  texts: string[],
): Promise<void> {
  await goTo(page, path)
  for (const heading of headings) {
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
  }
  for (const text of texts) {
    await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor()
  }
  await settled(page)
  t.match(readFileSync(join(DOCS, 'console.md'), 'utf8'), `](${name}.png)`, 'the page has it')
  const file = join(DOCS, `${name}.png`)
  if (isUpdate) await page.screenshot({ path: file })
  t.ok(existsSync(file), `${name}.png`)
}
