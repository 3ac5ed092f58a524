/** An operator reads deliveries: what became of each, and how. */
import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Page, Request } from 'playwright-core'
import type { Test } from 'tap'
import { until, untilCount } from '../../../support/until.ts'
import { click, confirm } from '../support/gestures.ts'
import { goTo, settled, toasted, WIDE, type Visit } from '../support/visit.ts'
import { openReceiver } from '../../../support/receiver.ts'

export async function readsDeliveries(t: Test, page: Page, visit: Visit) {
  await t.test('a row is a delivery, and leads to its attempts', (t) => oneRowEach(t, page, visit))
  await t.test(
    'everything that did not arrive is counted by kind, and sent from a delivery on',
    (t) => recoversFromHere(t, page, visit),
  )
  await t.test('a test with a payload of one’s own shows its result, and all of its request', (t) =>
    composes(t, page, visit),
  )
  await t.test('one goes from delivery to delivery, back to the list, and sends one again', (t) =>
    goesOn(t, page, visit),
  )
  await t.test('an event has one size, that of its payload as it is sent', (t) =>
    saysOneSize(t, page, visit),
  )
  await t.test('what a list has, by its filters, is saved as a file', (t) =>
    savesAFile(t, page, visit),
  )
  await t.test('the overview reads each thing once', (t) => readsOnce(t, page))
  await t.test('rows stay where they are for who has scrolled, and what is new is counted', (t) =>
    countsTheNew(t, page, visit),
  )
}

/** Its two attempts are the first two of a delivery that is still tried. */
async function oneRowEach(t: Test, page: Page, { app }: Visit) {
  const { webhooks } = app.svc
  const receiver = await openReceiver(t, { answer: 503 })
  const { id } = await webhooks.register({
    url: receiver.url,
    events: ['order.shipped'],
    label: 'Patient',
    retry: { maxAttempts: 5, delaysSeconds: [0, 600] },
  })
  await app.svc.events.publish('order.shipped', {})
  await untilCount(2, () => webhooks.listDeliveries({ webhookId: id }))
  await goTo(page, `deliveries?webhookId=${id}`)
  const row = page.getByRole('row', { name: /order\.shipped/ })
  await row.getByText('2 attempts').waitFor()
  await settled(page)
  t.equal(await row.count(), 1)
  t.match(await row.innerText(), /Retrying[\s\S]*next in (9|1\d) min[\s\S]*503/)
  await page.getByLabel('State').selectOption({ label: 'Retrying' })
  await until(() => page.url().includes('status=failed'))
  await page.getByRole('button', { name: 'Attempts', exact: true }).click()
  await until(async () => (await row.count()) === 2)
  t.match(await row.first().innerText(), /Failed/)
  await page.getByRole('button', { name: 'Deliveries', exact: true }).click()
  await until(async () => (await row.count()) === 1)
  await row.getByRole('link').first().click()
  for (const number of ['#1', '#2']) await page.getByRole('link', { name: number }).waitFor()
  // The same within the page of the webhook.
  await goTo(page, `webhooks/${id}/deliveries`)
  await row.waitFor()
  await page.getByLabel('State').selectOption({ label: 'Delivered' })
  await page.getByText('Nothing matches these filters').waitFor()
  t.match(page.url(), /\/deliveries\?status=delivered$/)
  await page.getByLabel('State').selectOption({ label: 'Retrying' })
  await row.getByText(/next in/).waitFor()
  const event = page.getByLabel('Event', { exact: true })
  await event.fill('order.created')
  await page.getByText('Nothing matches these filters').waitFor()
  await event.fill('')
  await row.waitFor()
  await webhooks.update({ id, active: false })
  // While it is paused the time of its next attempt passes.
  await page.route('**/api/deliveries.list', async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as { items: { nextAttemptAt?: string | undefined }[] }
    for (const item of json.items) item.nextAttemptAt = item.nextAttemptAt?.replace(/^\d+/, '2020')
    await route.fulfill({ json })
  })
  await page.reload()
  await row.getByText('next one is due').waitFor()
  await page.unroute('**/api/deliveries.list')
  await webhooks.delete(id)
}

const FEW_BYTES_OF_MANY_LINES = Object.fromEntries(
  Array.from({ length: 60 }, (_, n) => [`field${n}`, n]),
)

async function goesOn(t: Test, page: Page, { app }: Visit) {
  const { webhooks, events } = app.svc
  const receiver = await openReceiver(t, { answer: 500 })
  const { id } = await webhooks.register({
    url: receiver.url,
    events: ['order.shipped'],
    label: 'Broken',
    retry: { maxAttempts: 1 },
  })
  for (const n of [1, 2, 3]) {
    await events.publish('order.shipped', { n, ...FEW_BYTES_OF_MANY_LINES })
    await untilCount(n, () => webhooks.listDeadLetters(id))
  }
  const list = `dead-letters?webhookId=${id}&event=order.shipped`
  await goTo(page, list)
  const links = page.getByRole('row', { name: /order\.shipped/ }).getByRole('link', {
    name: 'order.shipped',
  })
  const body = page.getByLabel('body', { exact: true })
  await until(async () => (await links.count()) === 3)
  await links.first().click()
  await body.getByText('"n": 3,').waitFor()
  t.match(await body.innerText(), /field59/, 'what is short is not folded')
  t.equal(await page.getByRole('link', { name: 'Newer', exact: true }).count(), 0)
  for (const n of [2, 1]) {
    await page.getByRole('link', { name: 'Older', exact: true }).click()
    await body.getByText(`"n": ${n},`).waitFor()
  }
  t.equal(await page.getByRole('link', { name: 'Older', exact: true }).count(), 0)
  await page.getByRole('link', { name: '#1' }).click()
  await page.getByRole('link', { name: 'Newer', exact: true }).click()
  await body.getByText('"n": 2,').waitFor()
  const first = page.url()

  receiver.answer(200)
  await click(page, 'Send again')
  await page.getByRole('dialog').getByText('This dead letter stays').waitFor()
  await confirm(page, 'Send')
  const result = page.getByRole('region', { name: 'Result' })
  await result.getByText('Delivered').waitFor()
  await result.getByRole('link', { name: 'Request and answer in full' }).click()
  await until(() => page.url() !== first)
  await page.getByRole('link', { name: '#1' }).getByText('Delivered').waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Dead letters', exact: true }).click()
  await until(() => page.url().endsWith(list))
  await until(async () => (await links.count()) === 3)

  await links.nth(1).click()
  await toasted(page, '1 delivery queued again', () => click(page, 'Redrive'))
  await untilCount(2, () => webhooks.listDeadLetters(id))
  await page.getByRole('link', { name: '#2' }).getByText('Delivered').waitFor()
  // Those that are left, within the page of the webhook.
  await goTo(page, `webhooks/${id}/dead-letters`)
  await until(async () => (await links.count()) === 2)
  await page.getByLabel('Event', { exact: true }).fill('order.created')
  await page.getByText('Nothing matches these filters').waitFor()
  await webhooks.delete(id)
}

async function saysOneSize(t: Test, page: Page, { app }: Visit) {
  const payload = FEW_BYTES_OF_MANY_LINES
  const { id } = await app.svc.events.publish('order.shipped', payload)
  const size = `${JSON.stringify(payload).length} bytes`
  await goTo(page, `events?id=${id}`)
  const row = page.getByRole('row', { name: /order\.shipped/ })
  await row.getByText(size).waitFor()
  await row.getByRole('link').click()
  await page.getByLabel('payload', { exact: true }).waitFor()
  t.same(await page.getByText(/^[\d.]+ (bytes|kB)$/).allInnerTexts(), [size, size])
}

async function savesAFile(t: Test, page: Page, { app }: Visit) {
  const { id } = await app.svc.webhooks.register({
    url: 'http://127.0.0.1:9/',
    events: ['order.shipped'],
    label: '=1+1, "x"',
  })
  const save = async (path: string): Promise<string[]> => {
    await goTo(page, path)
    await settled(page)
    const [file] = await Promise.all([page.waitForEvent('download'), click(page, 'CSV')])
    t.equal(file.suggestedFilename(), `${path.split('?')[0]}.csv`)
    return (await readFile(await file.path(), 'utf8')).split('\r\n')
  }
  const [names, row, ...rest] = await save(`audit?target=${id}`)
  t.match(names, /^id,at,.*action.*target\.name.*changes/)
  t.match(row, `,"'=1+1, ""x""",`, 'no formula of somebody else')
  t.same(rest, [''], 'as the filters are')
  const deliveries = await save('deliveries?event=order.created')
  t.ok(deliveries.length > 2)
  t.notOk(deliveries.slice(1).some((line) => line.includes('order.shipped')))
  await app.svc.webhooks.delete(id)
}

async function recoversFromHere(t: Test, page: Page, { app }: Visit) {
  const { webhooks, events } = app.svc
  const receiver = await openReceiver(t, { answer: 500 })
  const { id } = await webhooks.register({
    url: receiver.url,
    events: ['order.shipped'],
    label: 'Late',
    retry: { maxAttempts: 1 },
  })
  await events.publish('order.shipped', { n: 1 })
  await events.publish('order.shipped', { n: 2 })
  await untilCount(2, () => webhooks.listDeadLetters(id))
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
  await untilCount(2 + Number.parseInt(text, 10), () =>
    webhooks.listDeliveries({ webhookId: id, status: 'delivered' }),
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
  const fresh = page.getByRole('button', { name: / new$/ })
  await fresh.waitFor()
  await until(async () => (await fresh.innerText()) === '2 new')
  t.equal(await rows.count(), count)
  await fresh.click()
  await until(async () => (await rows.count()) === count + 2)
  t.not(await rows.nth(1).innerText(), before)
  t.equal(await page.evaluate('scrollY'), 0)
  await page.setViewportSize(WIDE)
}

async function composes(t: Test, page: Page, { app }: Visit) {
  const { webhooks } = app.svc
  const receiver = await openReceiver(t, { answer: { status: 418, body: '{"teapot":true}' } })
  const { id, secret } = await webhooks.register({
    url: receiver.url,
    events: ['order.created'],
    label: 'Teapot',
    retry: { maxAttempts: 1 },
    headers: { authorization: 'Bearer of-the-receiver' },
  })
  await goTo(page, `webhooks/${id}`)
  await click(page, 'Send a test')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Event').selectOption('order.created')
  const payload = dialog.getByLabel('Payload, as JSON')
  t.match(await payload.inputValue(), '129.5', 'it begins with the example')
  await payload.fill('{ "id": 7')
  for (const close of [
    () => page.keyboard.press('Escape'),
    () => page.keyboard.press('Escape'),
    () => page.mouse.click(5, 5),
    () => dialog.getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    const asked = page.waitForEvent('dialog')
    const closed = close()
    const question = await asked
    t.match(question.message(), /was not sent/)
    await question.dismiss()
    await closed
    t.equal(await payload.inputValue(), '{ "id": 7', 'nothing typed is lost')
  }
  await dialog.getByLabel('Event').selectOption('webhook.test')
  await dialog.getByLabel('Event').selectOption('order.created')
  t.equal(await payload.inputValue(), '{ "id": 7', 'nor by a look at another event')
  await confirm(page, 'Send')
  await dialog.getByText('This is not JSON').waitFor()
  await payload.fill('{ "id": 7, "total": 12345678901234567890.10, "tax": 129.50 }')
  await dialog.getByText('12345678901234567890.10 would be sent as 12345678901234567000').waitFor()
  await payload.fill('{ "id": "seven", "total": 1 }')
  await confirm(page, 'Send')
  await dialog
    .getByRole('alert')
    .getByText(/payload/)
    .waitFor()
  await payload.fill('{ "id": 7, "total": 1, "note": "it\'s a test" }')
  await confirm(page, 'Send')
  const result = dialog.getByRole('region', { name: 'Result' })
  await result.getByText('418').waitFor()
  await result.getByText('"teapot": true').waitFor()
  const [got] = await receiver.waitFor(1)
  t.equal(got?.headers['x-svc-test'], 'true')
  await result.getByRole('link', { name: 'Request and answer in full' }).click()
  await dialog.waitFor({ state: 'detached' })

  const request = page.getByLabel('headers', { exact: true })
  await request.getByText(/X-Svc-Test: true/).waitFor()
  const headers = await request.innerText()
  t.match(headers, /authorization: \*{3}/i, 'what lets in is masked')
  t.match(headers, got?.headers['x-svc-signature'], 'signed as it was')
  t.match(
    await page.getByRole('img', { name: /First byte/ }).getAttribute('aria-label'),
    /Connection/,
  )
  await page.getByText('How it is signed').click()
  const command = await page.getByLabel('command that signs', { exact: true }).innerText()
  const { stdout } = spawnSync('bash', ['-c', command], {
    env: { ...process.env, WEBHOOK_SECRET: secret },
    encoding: 'utf8',
  })
  t.match(
    got?.headers['x-svc-signature'],
    stdout.trim().split(' ').at(-1)!,
    'as the command makes it',
  )

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await click(page, 'Copy as curl')
  const curl = String(await page.evaluate('navigator.clipboard.readText()'))
  t.match(curl, /^# Replace each <your value>: .*\ncurl /, 'what is masked is to be filled in')
  t.match(curl, /-H 'authorization: <your value>'/i)
  // The receiver is of this process.
  await promisify(execFile)('bash', ['-c', curl])
  const [, again] = await receiver.waitFor(2)
  t.equal(again?.raw, got?.raw, 'the command sends the same')
  t.equal(again?.headers['x-svc-signature'], got?.headers['x-svc-signature'])
  await webhooks.delete(id)
}
