/** An operator stops what goes wrong, lets it go on, and has events handled again. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { until } from '../../../support/until.ts'
import { click, confirm } from '../support/gestures.ts'
import type { Life } from '../support/life.ts'
import { goTo, toasted, type Visit } from '../support/visit.ts'

export async function stopsAndGoesOn(t: Test, page: Page, { app }: Visit, { healthy }: Life) {
  const { svc } = app
  const row = (name: string | RegExp) => page.getByRole('row', { name })
  const waiting = async () => (await svc.webhooks.get(healthy)).waiting

  await goTo(page, 'health')
  await page.getByText('Nothing is paused').waitFor()
  await click(page, 'Stop deliveries')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Why').fill('wrong amounts')
  await toasted(page, 'Deliveries are stopped', () => confirm(page, 'Stop them'))
  await row(/All deliveries.*wrong amounts/).waitFor()
  t.match((await svc.health()).paused, [{ scope: 'all', reason: 'wrong amounts' }])
  await svc.events.publish('order.created', { id: 1, total: 100 })
  t.equal(await waiting(), 1)
  await toasted(page, 'Deliveries go on', () => click(page, 'Let it go on'))
  await page.getByText('Nothing is paused').waitFor()
  await until(async () => (await waiting()) === 0)

  await click(page, 'Stop deliveries')
  await dialog.getByLabel('Tenant').fill('acme')
  await toasted(page, 'Deliveries are stopped', () => confirm(page, 'Stop them'))
  await row(/Tenant acme/).waitFor()
  t.match((await svc.health()).paused, [{ scope: 'tenant', tenant: 'acme' }])
  await toasted(page, 'Deliveries go on', () => click(page, 'Let it go on'))

  let isBroken = true
  const handled: unknown[] = []
  const subscription = 'ship-orders'
  await svc.events.subscribe(
    'order.shipped',
    (payload) => {
      if (isBroken) throw new Error('the printer is off')
      handled.push(payload)
    },
    { subscription },
  )
  await svc.events.publish('order.shipped', { n: 1 }, { id: 'first' })
  await svc.events.publish('order.shipped', { n: 2 }, { id: 'second' })
  await until(async () => (await svc.events.deadLetters(subscription)).length === 2)
  await goTo(page, `handlers?subscription=${encodeURIComponent(subscription)}`)
  await row(/order\.shipped.*the printer is off/)
    .nth(1)
    .waitFor()
  await toasted(page, 'Dead letter deleted', () =>
    row(/order\.shipped/)
      .first()
      .getByRole('button', { name: 'Delete' })
      .click(),
  )
  await until(async () => (await row(/order\.shipped/).count()) === 1)
  isBroken = false
  await toasted(page, 'It is handled again', () => click(page, 'Handle again'))
  await until(() => handled.length === 1)
  await page.getByText('Nothing matches these filters').waitFor()

  await svc.events.pause(subscription, { reason: 'the printer is off' })
  await goTo(page, 'health')
  await row(/Handler ship-orders.*the printer is off/).waitFor()
  await toasted(page, 'The handler goes on', () => click(page, 'Let it go on'))
  t.same((await svc.health()).paused, [])
}
