/** An operator reads deliveries: what became of each, and how. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { until } from '../../../support/until.ts'
import type { Life } from '../support/life.ts'
import { goTo, settled, type Visit } from '../support/visit.ts'

export async function readsDeliveries(t: Test, page: Page, visit: Visit, life: Life) {
  await t.test('a row is a delivery, and leads to its attempts', (t) =>
    oneRowEach(t, page, visit, life),
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
