/** An operator works with webhooks and their deliveries, read back through the operations of the host. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { until, untilCount } from '../../../support/until.ts'
import { click, confirm } from '../support/gestures.ts'
import { sendsInbound, type Life } from '../support/life.ts'
import { goTo, settled, toasted, type Visit } from '../support/visit.ts'
import { openReceiver } from '../../../support/receiver.ts'

export async function worksWithWebhooks(t: Test, page: Page, visit: Visit, life: Life) {
  await goTo(page, 'webhooks')
  await createsAWebhook(t, page, visit)
  await page.getByRole('link', { name: 'Billing' }).click()
  await changesIt(t, page, visit, life.healthy)
  await goTo(page, 'deliveries')
  await filters(t, page)
  life.recover()
  await goTo(page, `dead-letters?webhookId=${life.failing}`)
  await redrives(page, visit, life.failing)
  await goTo(page, 'inbound?outcome=accepted')
  await replays(t, page, visit)
  await knowsSources(t, page, visit)
  await sendsASample(t, page, visit)
}

async function sendsASample(t: Test, page: Page, { app }: Visit) {
  await goTo(page, 'inbound')
  await click(page, 'Test shop')
  const dialog = page.getByRole('dialog')
  const body = dialog.getByLabel('Body, as JSON')
  await body.fill('{ "order": 77')
  await confirm(page, 'Send')
  await dialog.getByText('This is not JSON').waitFor()
  await body.fill('{ "order": 77 }')
  await confirm(page, 'Send')
  const result = dialog.getByRole('region', { name: 'Result' })
  await result.getByText('Accepted', { exact: true }).waitFor()
  await result.getByText('200', { exact: true }).waitFor()
  const { items } = await app.svc.events.search({ name: 'shop.order', limit: 1, payloads: true })
  t.match(items, [{ payload: { order: 77 } }])
  await result.getByRole('link', { name: 'Its requests' }).click()
  await dialog.waitFor({ state: 'detached' })
  t.match(page.url(), /inbound\?source=shop$/)
  await click(page, 'Test partner')
  await dialog.getByText('No sample can be sent: its verify is a function of this host.').waitFor()
  t.ok(await dialog.getByRole('button', { name: 'Send' }).isDisabled())
  await page.keyboard.press('Escape')
}

async function knowsSources(t: Test, page: Page, { app, url }: Visit) {
  await goTo(page, 'inbound')
  await page.getByRole('link', { name: '1 refused request in a day' }).click()
  await until(() => page.url().endsWith('/inbound?source=shop&outcome=refused'))
  t.equal(await page.locator('datalist option[value="shop"]').count(), 1, 'sources are suggested')
  await until(async () => (await page.getByRole('row').count()) === 2)
  await page.getByRole('cell').getByRole('button', { name: 'shop' }).click()
  const request = page.getByRole('dialog').locator('a[href*="request="]')
  const address = await request.getAttribute('href')
  await page.keyboard.press('Escape')
  await page.goto(url + address)
  await page.getByRole('dialog').getByText('no signature matches').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  for (const order of [8, 9]) await sendsInbound(url, order)
  await untilCount(3, () => app.svc.webhooks.listInbound({ outcome: 'accepted' }))
  await app.svc.database.query(
    `update svc."__svc.webhooks.inbound_log" set id = (
       left(svc."__svc.first_uuid"(now() - interval '2 days')::text, 24) || right(id::text, 12))::uuid`,
  )
  await page.goto(`${url}/console`)
  await page.getByText('it usually sends more often').waitFor()
}

async function createsAWebhook(t: Test, page: Page, { app }: Visit) {
  const receiver = await openReceiver(t)
  await page.getByRole('link', { name: 'New webhook' }).click()
  await click(page, 'Create webhook')
  await page.getByRole('alert').getByText('Choose at least one event').waitFor()
  await page.getByLabel('Address').fill(receiver.url)
  await page.getByLabel('order.created').check()
  await page.getByLabel('Label').fill('Made by hand')
  await page.getByLabel('Which of these events').fill('{ "payload.total": { "$gte": 50 }')
  await page.getByText('This is not JSON').waitFor()
  await page.getByLabel('Which of these events').fill('{ "payload.total": { "$gte": 50 } }')
  // The newest events are three orders of 5, 50 and 500.
  await page.getByText('2 of the 3 newest events would be sent').waitFor()
  await click(page, 'Create webhook')
  const secret = await page.getByRole('dialog').locator('.secret code').innerText()
  await confirm(page, 'Done')
  await page.getByRole('heading', { name: 'Made by hand' }).waitFor()
  const [made] = await app.svc.webhooks.list({ limit: 1 })
  t.match(made, {
    label: 'Made by hand',
    url: receiver.url,
    events: ['order.created'],
    filter: { 'payload.total': { $gte: 50 } },
  })
  t.equal((await app.svc.webhooks.get(made!.id)).secret, secret)

  await click(page, 'Send a test')
  await confirm(page, 'Send')
  await receiver.waitFor(1)
  await page.getByRole('region', { name: 'Result' }).getByText('Delivered').waitFor()
  await confirm(page, 'Cancel')
  await page.getByRole('link', { name: 'Deliveries', exact: true }).last().click()
  await page.getByRole('link', { name: 'webhook.test' }).waitFor() // by the stream, without a reload

  // What was published before the webhook was there, as its filter wants it.
  await click(page, 'Recover')
  await page.getByText('2 deliveries would be sent.').waitFor()
  await toasted(page, '2 deliveries on their way', () => confirm(page, 'Send 2 deliveries'))
  await receiver.waitFor(3)
  await page.getByText('2 sent again').waitFor()
  t.match(await app.svc.webhooks.listRecoveries(made!.id), [{ deliveries: 2, done: 2 }])

  await click(page, 'Delete')
  await page.getByLabel('Type “delete” to confirm').fill('delete')
  await confirm(page, 'Delete')
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  t.notOk((await app.svc.webhooks.list()).some(({ id }) => id === made!.id))
}

async function changesIt(t: Test, page: Page, { app }: Visit, id: string) {
  const read = () => app.svc.webhooks.get(id)
  await click(page, 'Pause')
  await page.getByRole('dialog').getByText('are not sent to it').waitFor()
  await confirm(page, 'Pause')
  await page.getByText(/^Paused since/).waitFor()
  await app.svc.events.publish('order.created', { id: 60, total: 60 })
  await click(page, 'Resume')
  await page.getByRole('heading', { name: 'Send what it missed while it was paused' }).waitFor()
  await toasted(page, '1 delivery on their way', () => confirm(page, 'Send 1 delivery'))
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  t.equal((await read()).active, true)
  const { secret } = await read()
  await click(page, 'Rotate secret')
  await confirm(page, 'Rotate')
  const shown = await page.getByRole('dialog').locator('.secret code').innerText()
  await confirm(page, 'Done')
  t.not((await read()).secret, secret)
  t.equal((await read()).secret, shown)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Label').fill('Accounting')
  await app.svc.webhooks.update({ id, description: 'Changed by somebody else' })
  await page.getByLabel('Attempts', { exact: true }).fill('7')
  await toasted(page, 'Saved', () => click(page, 'Save changes'))
  t.match(await read(), {
    label: 'Accounting',
    description: 'Changed by somebody else',
    retry: { maxAttempts: 7 },
    filter: { 'payload.total': { $gte: 10 } },
  })
}

async function redrives(page: Page, { app }: Visit, id: string) {
  const boxes = page.getByRole('checkbox')
  await boxes.first().check()
  await boxes.last().click({ modifiers: ['Shift'] })
  await page.getByRole('button', { name: 'Redrive 3 chosen' }).waitFor()
  for (const at of [1, 2]) await boxes.nth(at).uncheck()
  await page.getByRole('button', { name: 'Redrive 1 chosen' }).waitFor()
  await goTo(page, `dead-letters?webhookId=${id}&event=order.shipped`)
  await page.getByRole('heading', { name: 'Nothing matches these filters' }).waitFor()
  await page.getByRole('button', { name: 'Redrive 1 chosen' }).waitFor({ state: 'detached' })
  await goTo(page, `dead-letters?webhookId=${id}`)
  await click(page, 'Redrive 1 chosen')
  await confirm(page, 'Redrive 1')
  const left = (count: number) => untilCount(count, () => app.svc.webhooks.listDeadLetters(id))
  await left(2)
  await click(page, 'Redrive all of this webhook')
  await confirm(page, 'Redrive all')
  await left(0)
  await page.getByRole('heading', { name: 'Nothing matches these filters' }).waitFor()
}

async function filters(t: Test, page: Page) {
  await settled(page)
  const event = page.getByLabel('Event', { exact: true })
  await event.fill('order.*')
  await page.getByText('Choose one: order.created, order.shipped').waitFor()
  await page.waitForTimeout(1000)
  t.notMatch(page.url(), /event=/, 'the beginning of names waits until one of them is chosen')
  await event.fill('order.created')
  await until(() => page.url().endsWith('event=order.created'))
  await event.fill('')
  await until(() => !page.url().includes('event='))
  await page.getByLabel('State').selectOption('dead')
  await until(() => page.url().endsWith('/deliveries?status=dead'))
  await settled(page)
  await page.getByRole('cell', { name: 'Dead', exact: true }).first().waitFor()
  t.equal(await page.getByRole('cell', { name: 'Delivered', exact: true }).count(), 0)
  await page.getByRole('row').nth(1).getByRole('link').first().click()
  await page.getByText('It is not tried again.').waitFor()
  await page.getByText('upstream unavailable').waitFor()
  await page.getByRole('link', { name: 'Deliveries', exact: true }).last().click()
  await page.getByRole('cell', { name: 'Dead', exact: true }).first().waitFor()
  t.equal(await page.getByLabel('State').inputValue(), 'dead', 'back leads to the same list')
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page
      .getByRole('row')
      .nth(1)
      .getByRole('cell', { name: 'Dead' })
      .click({ modifiers: ['ControlOrMeta'] }),
  ])
  await tab.getByText('It is not tried again.').waitFor()
  t.match(page.url(), /status=dead$/, 'a row opens a tab of its own')
  await tab.close()
  const [other] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('row').nth(1).getByRole('cell', { name: 'Dead' }).click({ button: 'middle' }),
  ])
  await other.getByText('It is not tried again.').waitFor()
  await other.close()
}

async function replays(t: Test, page: Page, { app }: Visit) {
  await page.getByRole('cell').getByRole('button', { name: 'shop' }).click()
  await page.getByRole('dialog').getByText('"order": 7').waitFor()
  await toasted(page, 'Published again, as a new event', () => confirm(page, 'Replay'))
  t.match(await app.svc.audit.list({ limit: 1 }), [{ actor: { kind: 'console' } }])
}
