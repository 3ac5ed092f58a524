/**
 * The jobs of a day as a person does them, from the overview to the answer. A click is a click, or Enter on what is
 * chosen; a field that is filled is none. The screen at the end has the answer, or the change is made.
 */
import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { until, untilCount } from '../../../support/until.ts'
import type { Life } from '../support/life.ts'
import { goTo, settled, type Visit } from '../support/visit.ts'
import { openReceiver } from '../../../support/receiver.ts'

const MOST_CLICKS = 3
const MOST_SECONDS = 15

interface Person {
  page: Page
  click: (what: Locator) => Promise<void>
  /** Opens "Go to", types, and takes what is found. */
  jump: (text: string, target: string | RegExp) => Promise<void>
  type: (field: Locator, text: string) => Promise<void>
  sees: (text: string | RegExp) => Promise<void>
}

/** What a person does, counted. */
interface Count {
  clicks: number
  keys: number
}

function personAt(page: Page, count: Count): Person {
  const type = async (field: Locator, text: string) => {
    count.keys += text.length
    await field.fill(text)
  }
  return {
    page,
    type,
    async click(what) {
      count.clicks += 1
      await what.click()
    },
    async jump(text, target) {
      count.keys += 1
      await page.keyboard.press('/')
      const dialog = page.getByRole('dialog')
      await type(dialog.getByRole('combobox'), text)
      const option = dialog.getByRole('option', { name: target })
      await option.waitFor()
      count.clicks += 1
      await option.click()
    },
    sees: (text) => page.locator('main, dialog').filter({ hasText: text }).last().waitFor(),
  }
}

const link = (page: Page, name: string | RegExp) =>
  page.getByRole('main').getByRole('link', { name }).first()
const screen = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name, exact: true })
const button = (page: Page, name: string | RegExp) =>
  page.locator('main, dialog').getByRole('button', { name }).last()

export async function doesItsJobs(t: Test, page: Page, visit: Visit, life: Life) {
  const { svc } = visit.app
  const { url } = await svc.webhooks.get(life.failing)
  const leaked = await svc.auth.createApiKey({ userId: life.userId, label: 'Leaked' })
  const gone = await svc.auth.createApiKey({ userId: life.userId, label: 'Gone' })
  await goTo(page, `keys/${gone.id}`)
  await button(page, 'Revoke').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page
    .getByText(/^Revoked/)
    .first()
    .waitFor()
  await svc.events.publish(
    'order.created',
    { id: 123, total: 99 },
    { tenant: 'acme', id: 'INV-123' },
  )
  await until(async () =>
    (await svc.webhooks.listDeadLetters(life.failing)).some(({ eventId }) => eventId === 'INV-123'),
  )
  const moved = await openReceiver(t)

  let [isBroken, handled] = [true, false]
  const handle = () => {
    if (isBroken) throw new Error('the printer is off')
    handled = true
  }
  await svc.events.subscribe('order.shipped', handle, { subscription: 'print' })
  await svc.events.publish('order.shipped', {})
  await until(async () => (await svc.events.deadLetters('print')).length === 1)
  isBroken = false

  const jobs: Record<string, (person: Person) => Promise<void>> = {
    'Why did acme not get invoice 123?': async ({ jump, click, sees, page }) => {
      await jump('INV-123', /with the id/)
      await click(link(page, 'order.created'))
      await click(link(page, /Warehouse/))
      await sees('upstream unavailable')
    },
    'Send again all that did not arrive since 14:00, over a tenant': async ({
      click,
      page,
      type,
    }) => {
      await click(screen(page, 'Deliveries'))
      await click(button(page, 'Recover'))
      await type(page.getByRole('dialog').getByLabel('Tenant'), 'acme')
      const since = new Date(Date.now() - 3_600_000)
      since.setMinutes(since.getMinutes() - since.getTimezoneOffset())
      await type(page.getByRole('dialog').getByLabel('From'), since.toISOString().slice(0, 16))
      life.recover()
      await click(button(page, /^Send \d+ deliver/))
      await untilCount(0, () => svc.webhooks.listDeadLetters(life.failing))
    },
    'The customer changed their address': async ({ jump, click, type, page }) => {
      await jump('ware', 'Webhook Warehouse')
      await click(link(page, 'Settings'))
      await type(page.getByRole('textbox', { name: 'Address' }), moved.url)
      await click(button(page, 'Save changes'))
      await until(async () => (await svc.webhooks.get(life.failing)).url === moved.url)
    },
    'Who revoked this key?': async ({ jump, sees }) => {
      await jump('gone', 'Key Gone')
      await sees(/Revoked[\s\S]*by (Console|Bootstrap)/)
    },
    'Which customer is near its limit?': async ({ sees }) => {
      await sees(/Near their limits[\s\S]*Nightly[\s\S]*acme[\s\S]*4 of 5/)
    },
    'A customer leaked a key': async ({ jump, click, page }) => {
      await jump('leaked', 'Key Leaked')
      await click(button(page, 'Revoke'))
      await click(page.getByRole('dialog').getByRole('button', { name: 'Revoke' }))
      await until(async () => !(await svc.auth.validateApiKey(leaked.key)).valid)
    },
    'Hooks of the shop stopped arriving. Why?': async ({ click, sees, page }) => {
      await click(link(page, 'Look'))
      await click(page.getByRole('cell').getByRole('button', { name: 'shop' }).first())
      await sees(/no signature matches[\s\S]*it was changed there or here/)
    },
    'Stop everything now': async ({ click, type, page }) => {
      await click(screen(page, 'Health'))
      await click(button(page, 'Stop deliveries'))
      await type(page.getByRole('dialog').getByLabel('Why'), 'wrong amounts')
      await click(button(page, 'Stop them'))
      await until(async () => (await svc.health()).paused.length === 1)
      await svc.webhooks.resumeAll()
    },
    'Have the host’s own handler do again what it failed at': async ({ click, page }) => {
      await click(screen(page, 'Handlers'))
      await click(button(page, 'Handle again'))
      await until(() => handled)
    },
    'Give the customer a link to the portal': async ({ jump, click, sees, page }) => {
      await jump('acme', 'Tenant acme')
      await click(button(page, 'Link for acme'))
      await click(button(page, 'Make link'))
      await sees(/\/portal\//)
      await button(page, 'Done').click()
    },
  }
  for (const [job, does] of Object.entries(jobs)) {
    await t.test(job, async (t) => {
      await goTo(page, '')
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
      await settled(page)
      const count = { clicks: 0, keys: 0 }
      const started = performance.now()
      await does(personAt(page, count))
      const machine = (performance.now() - started) / 1000
      // The keystroke-level model: a click, a key, and a decision before each click.
      const person = count.clicks * (1.3 + 1.35) + count.keys * 0.2
      t.comment(
        `${count.clicks} clicks, ${count.keys} keys: ${person.toFixed(0)} s of a person, ${machine.toFixed(1)} s of this machine`,
      )
      t.ok(count.clicks <= MOST_CLICKS, `${count.clicks} clicks`)
      t.ok(person <= MOST_SECONDS, `${person.toFixed(1)} s of a person`)
      await page.keyboard.press('Escape')
    })
  }
  await svc.webhooks.update({ id: life.failing, url })
}
