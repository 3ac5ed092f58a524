/** An operator reads deliveries: what became of each, and how. */
import type { Page, Request } from 'playwright-core'
import type { Test } from 'tap'
import { receiver as openReceiver } from '@svc/testing'
import { until } from '../../../support/until.ts'
import { click, confirm } from '../support/gestures.ts'
import type { Life } from '../support/life.ts'
import { goTo, settled, toasted, WIDE, type Visit } from '../support/visit.ts'

export async function readsDeliveries(t: Test, page: Page, visit: Visit, life: Life) {
  await t.test('a row is a delivery, and leads to its attempts', (t) =>
    oneRowEach(t, page, visit, life),
  )
  await t.test(
    'everything that did not arrive is counted by kind, and sent from a delivery on',
    (t) => recoversFromHere(t, page, visit),
  )
  await t.test('the overview reads each thing once', (t) => readsOnce(t, page))
  await t.test('rows stay where they are for who has scrolled, and what is new is counted', (t) =>
    countsTheNew(t, page, visit),
  )
}

/** Its two attempts are the first two of a delivery that is still tried. */
async function oneRowEach(t: Test, page: Page, { app }: Visit, { failing }: Life) {
  const { webhooks } = app.svc
  const { url } = await webhooks.get(failing)
  const { id } = await webhooks.register({
    url: url!,
    events: ['order.shipped'],
    label: 'Patient',
    retry: { maxAttempts: 5, delaysSeconds: [0, 600] },
  })
  await app.svc.events.publish('order.shipped', {})
  await until(
    () => webhooks.listDeliveries({ webhookId: id }),
    (attempts) => attempts.length === 2,
  )
  await goTo(page, `deliveries?webhookId=${id}`)
  const row = page.getByRole('row', { name: /order\.shipped/ })
  await row.getByText('2 attempts').waitFor()
  await settled(page)
  t.equal(await row.count(), 1)
  t.match(await row.innerText(), /Retrying[\s\S]*next in (9|1\d) min[\s\S]*503/)
  await page.getByLabel('State').selectOption({ label: 'Retrying' })
  await until(() => page.url().includes('status=failed'))
  await page.getByRole('button', { name: 'Attempts', exact: true }).click()
  await until(
    () => row.count(),
    (count) => count === 2,
  )
  t.match(await row.first().innerText(), /Failed/)
  await page.getByRole('button', { name: 'Deliveries', exact: true }).click()
  await until(
    () => row.count(),
    (count) => count === 1,
  )
  await row.getByRole('link').first().click()
  for (const number of ['#1', '#2']) await page.getByRole('link', { name: number }).waitFor()
  await webhooks.delete(id)
}

async function recoversFromHere(t: Test, page: Page, { app }: Visit) {
  const { webhooks, events } = app.svc
  const receiver = await openReceiver({ answer: 500 })
  t.teardown(() => receiver.close())
  const { id } = await webhooks.register({
    url: receiver.url,
    events: ['order.shipped'],
    label: 'Late',
    retry: { maxAttempts: 1 },
  })
  await events.publish('order.shipped', { n: 1 })
  await events.publish('order.shipped', { n: 2 })
  await until(
    () => webhooks.listDeadLetters(id),
    (letters) => letters.length === 2,
  )
  // An event that made no delivery.
  await webhooks.update({ id, active: false })
  await events.publish('order.shipped', { n: 3 })
  await webhooks.update({ id, active: true })
  await goTo(page, `deliveries?webhookId=${id}`)
  await page
    .getByRole('row', { name: /order\.shipped/ })
    .last()
    .getByRole('link')
    .first()
    .click()
  await click(page, 'Recover from here')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('2 dead letters').waitFor()
  await dialog.getByText('0 that wait for their next attempt').waitFor()
  // Those of the stories before are of the same name and minute.
  const text = await dialog.getByText(/\d+ events that never became a delivery/).innerText()
  t.ok(Number.parseInt(text, 10) >= 1, text)
  receiver.answer(200)
  await toasted(page, `${2 + Number.parseInt(text, 10)} deliveries on their way`, () =>
    confirm(page, /^Send \d+ deliveries$/),
  )
  await until(
    () => webhooks.listDeliveries({ webhookId: id, status: 'delivered' }),
    (arrived) => arrived.length === 2 + Number.parseInt(text, 10),
  )
  await webhooks.delete(id)
}

/** The stream is open before the first read: nothing that it hints at is read a second time. */
async function readsOnce(t: Test, page: Page) {
  const asked: string[] = []
  const note = (request: Request) => {
    if (request.method() === 'POST') asked.push(`${request.url()} ${request.postData()}`)
  }
  await goTo(page, '')
  await settled(page)
  // What the stories before have changed has been hinted at by then.
  await page.waitForTimeout(4000)
  page.on('request', note)
  await page.reload()
  await page.getByText('Live', { exact: true }).waitFor()
  await settled(page)
  // Longer than a hint waits until it is followed.
  await page.waitForTimeout(2500)
  page.off('request', note)
  t.ok(asked.length > 3, `${asked.length} reads`)
  t.same(
    asked.filter((one, index) => asked.indexOf(one) !== index),
    [],
  )
}

async function countsTheNew(t: Test, page: Page, { app }: Visit) {
  const { events } = app.svc
  await page.setViewportSize({ width: 1440, height: 300 })
  await goTo(page, 'events')
  const rows = page.getByRole('row')
  await rows.nth(1).waitFor()
  const before = await rows.nth(1).innerText()
  const count = await rows.count()
  await page.mouse.move(5, 5)
  await page.evaluate('scrollTo(0, 400)')
  await until(
    () => page.evaluate("document.querySelector('.rows').getBoundingClientRect().top"),
    (top) => Number(top) < 0,
  )
  for (const id of [71, 72]) await events.publish('order.created', { id, total: 50 })
  await page.getByRole('button', { name: '2 new' }).waitFor()
  t.equal(await rows.count(), count)
  await page.getByRole('button', { name: '2 new' }).click()
  await until(
    () => rows.count(),
    (now) => now === count + 2,
  )
  t.not(await rows.nth(1).innerText(), before)
  t.equal(await page.evaluate('scrollY'), 0)
  await page.setViewportSize(WIDE)
}
