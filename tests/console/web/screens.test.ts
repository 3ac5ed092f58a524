/** What the page looks like: every screen, by WCAG AA, at all widths and in both schemes. */
import t, { type Test } from 'tap'
import { receiver as openReceiver } from '@svc/testing'
import { until, untilCount } from '../../support/until.ts'
import { bringToLife, lively, type Life } from './support/life.ts'
import {
  goTo,
  NARROW,
  outOfFrame,
  screenshot,
  settled,
  sidewaysPixels,
  SIZES,
  WIDE,
  wcagProblems,
  withConsole,
  type Visit,
} from './support/visit.ts'

t.test('an operator sees every screen', async (t) => {
  await withConsole(t, lively(), async (visit) => {
    const life = await bringToLife(t, visit)
    await t.test('each screen shows its content, wide and narrow, light and dark', (t) =>
      looksAtEach(t, visit, life),
    )
    await t.test('each dialog fits the smallest phone', (t) => opensEach(t, visit, life))
    await t.test('markup, megabytes and right-to-left text do not break the page', (t) =>
      staysAPage(t, visit),
    )
  })
})

async function looksAtEach(t: Test, visit: Visit, { healthy, failing, userId, keyId }: Life) {
  const [letter] = await visit.app.svc.webhooks.listDeadLetters(failing)
  const delivery = `deliveries/${failing}/${letter!.deliveryId}`
  const event = `events/order.created/${letter!.eventId}?tenant=acme`
  // Every column of the list of keys has something, and as much as is usual.
  const { auth } = visit.app.svc
  const owner = await auth.createUser({
    email: 'grace@example.com',
    name: 'Grace Brewster Hopper',
    tenant: 'north-sea-trading',
  })
  await auth.createApiKey({
    userId: owner.id,
    label: 'Storefront',
    scopes: ['orders:read', 'read', 'write'],
    limits: [{ limit: 100, perSeconds: 60 }],
  })
  // Path, heading, and a text that only its data has.
  const screens = [
    ['', 'Overview', 'Needs attention'],
    ['webhooks', 'Webhooks', 'Warehouse'],
    ['webhooks/new', 'New webhook', 'An order was placed and paid.'],
    [`webhooks/${healthy}`, 'Billing', 'payload.total'],
    [`webhooks/${failing}/deliveries`, 'Warehouse', '503'],
    [`webhooks/${failing}/dead-letters`, 'Warehouse', '503'],
    [`webhooks/${healthy}/verify`, 'Billing', 'import { InvalidDelivery'],
    [`webhooks/${healthy}/settings`, 'Billing', 'Which of these events'],
    ['deliveries', 'Deliveries', 'Warehouse'],
    ['deliveries?rows=attempts', 'Deliveries', 'Delivery'],
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
  const page = await visit.signedIn({ timezoneId: timezoneOfAFullLabel() })
  for (const [path, heading, text] of screens) {
    await goTo(page, path)
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
    await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor()
    await settled(page)
    const name = `${path.replace(UUID, '')}-${heading}`.toLowerCase().replace(/\W+/g, '-')
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      const rule = scheme === 'dark' ? 'color-contrast' : undefined
      t.strictSame(await wcagProblems(page, rule), [], `${path} by WCAG AA, ${scheme}`)
      for (const size of SIZES) {
        const what = `${size.width}-${scheme}`
        await page.setViewportSize(size)
        t.equal(await sidewaysPixels(page), 0, `${path} scrolls sideways, ${what}`)
        t.strictSame(await outOfFrame(page), [], `${path}, ${what}`)
        await screenshot(page, `${name}-${what}`, !USUAL.includes(what))
      }
      await page.setViewportSize(WIDE)
    }
  }
}

const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g

/** The screenshots of every run. */
const USUAL = ['1440-light', '390-dark']

/** A time zone in which the newest hour of a chart is 0, 6, 12 or 18: these have labels. */
function timezoneOfAFullLabel(): string {
  return `Etc/GMT+${new Date().getUTCHours() % 6}`
}

/** Where it is opened, and by which button. */
const DIALOGS = ({ failing, keyId, userId }: Life): [string, string | RegExp][] => [
  [`webhooks/${failing}`, 'Send a test'],
  [`webhooks/${failing}`, 'Recover'],
  [`webhooks/${failing}`, 'Rotate secret'],
  [`webhooks/${failing}`, 'Delete'],
  ['deliveries', 'Recover'],
  ['events', 'Read the feed'],
  ['inbound', 'shop'],
  ['inbound', 'Test shop'],
  ['inbound', 'Test partner'],
  ['users', 'New user'],
  [`users/${userId}`, 'Delete'],
  ['keys', 'New key'],
  [`keys/${keyId}`, 'Edit'],
  [`keys/${keyId}`, 'Rotate'],
  [`keys/${keyId}`, 'Revoke'],
  ['tenants', 'Link for acme'],
]

async function opensEach(t: Test, visit: Visit, life: Life) {
  const page = await visit.signedIn({ viewport: { ...NARROW, width: 320 } })
  for (const [path, name] of DIALOGS(life)) {
    await goTo(page, path)
    await settled(page)
    await page.getByRole('main').getByRole('button', { name }).last().click()
    await page.getByRole('dialog').waitFor()
    await settled(page)
    const beyond = Number(
      await page.evaluate(`(({ left, right }, { scrollWidth, clientWidth }) =>
        Math.max(-left, right - innerWidth, scrollWidth - clientWidth)
      )(document.querySelector('dialog').getBoundingClientRect(), document.querySelector('dialog'))`),
    )
    t.ok(beyond <= 0, `${path}, ${String(name)}: ${beyond} px too wide`)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
}

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
const BIDI = '\u202egnp.exe \u0645\u0631\u062d\u0628\u0627'
const EMOJI = '👩‍👩‍👧‍👦'.repeat(200)

/** Payloads that strangers wrote are text on the page, whatever is in them. */
async function staysAPage(t: Test, visit: Visit) {
  const { svc } = visit.app
  const receiver = await openReceiver({
    answer: { status: 500, headers: { 'content-type': 'text/html' }, body: MARKUP + BIDI },
  })
  t.teardown(() => receiver.close())
  const { id } = await svc.webhooks.register({
    url: receiver.url,
    events: ['order.created'],
    label: `${MARKUP.slice(0, 60)}${BIDI}`,
    description: EMOJI.slice(0, 990),
  })
  const payload = {
    id: 1,
    total: 1,
    [MARKUP]: MARKUP,
    bidi: BIDI,
    emoji: EMOJI,
    long: 'x'.repeat(1_500_000),
  }
  await svc.events.publish('order.created', payload)
  const [letter] = await untilCount(1, () => svc.webhooks.listDeadLetters(id))
  const page = await visit.signedIn({ viewport: NARROW })
  const paths = [
    'webhooks',
    `webhooks/${id}`,
    'deliveries',
    'events',
    `events/order.created/${letter!.eventId}`,
    'audit',
    `deliveries/${id}/${letter!.deliveryId}`,
  ]
  for (const path of paths) {
    await goTo(page, path)
    await page
      .locator('main')
      .getByText(/img src|order\.created|webhook\.create/)
      .filter({ visible: true })
      .first()
      .waitFor()
    await settled(page)
    t.equal(await sidewaysPixels(page), 0, `${path} scrolls sideways`)
    t.equal(await page.locator('main img, main script').count(), 0, path)
    t.match(await page.title(), /Console$/)
  }
  const body = page.getByLabel('payload', { exact: true })
  await body.getByText('\\u202egnp.exe').waitFor()
  t.ok((await body.innerText()).length < 10_000, 'megabytes are folded')
  await page.getByRole('button', { name: /^Show more/ }).click()
  await until(
    async () => (await body.innerText()).length,
    (length) => length > 90_000,
  )
}

t.test('a tenant sees its own rows, under the name and the colour of the host', async (t) => {
  const theme = { name: 'Acme Orders', accent: '#ffcc00' }
  await withConsole(
    t,
    lively({ console: { theme }, webhooks: { headerPrefix: 'X-Acme-' } }),
    async (visit) => {
      const { healthy, failing } = await bringToLife(t, visit)
      const { page } = await visit.open()
      const link = await visit.app.svc.console.portalLink({ tenant: 'acme' })
      await page.goto(new URL(link, visit.url).href)
      await page.getByRole('heading', { level: 1 }).waitFor()
      t.match(await page.title(), /Acme Orders/)
      const names = await page
        .getByRole('navigation', { name: 'Screens' })
        .getByRole('link')
        .allInnerTexts()
      t.ok(names.includes('Webhooks') && names.includes('Deliveries'), String(names))
      for (const hidden of ['Tenants', 'Users', 'Health']) t.notOk(names.includes(hidden), hidden)

      await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
      await page.getByRole('link', { name: 'Warehouse' }).waitFor()
      t.equal(await page.getByText('Billing').count(), 0, 'the operator’s are not shown')
      t.strictSame(await wcagProblems(page), [], 'yellow is made legible')
      await screenshot(page, 'portal-webhooks-1440-light')

      await goTo(page, `webhooks/${healthy}`)
      await page.getByRole('alert').waitFor()
      await goTo(page, `webhooks/${failing}`)
      await page.getByRole('heading', { name: 'Warehouse' }).waitFor()
      await goTo(page, 'health')
      await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor()
      // How its receiver verifies, with the headers that this host sends.
      await goTo(page, `webhooks/${failing}/verify`)
      await page.getByRole('button', { name: 'Python' }).click()
      await page.getByLabel('receiver', { exact: true }).getByText('"X-Acme-Timestamp"').waitFor()
      await screenshot(page, 'portal-verify-1440-light')
      await goTo(page, `webhooks/${failing}/nothing`)
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
      await page.goto(`${visit.url}/console/webhooks/%E0%A4%A`)
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
      t.equal((await fetch(`${visit.url}/hooks/%E0%A4%A`)).status, 400, 'the host’s own are left')
    },
  )
})

t.test('a portal that is part of another page has nothing around its screens', async (t) => {
  await withConsole(t, lively(), async (visit) => {
    await bringToLife(t, visit)
    const { page } = await visit.open()
    const link = await visit.app.svc.console.portalLink({
      tenant: 'acme',
      embed: true,
      colorScheme: 'dark',
    })
    await page.goto(new URL(link, visit.url).href)
    for (const time of ['at first', 'after a reload']) {
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      const isTold = page.evaluate(
        `new Promise((told) => {
          addEventListener('message', ({ data }) =>
            data.svcConsoleHeight === document.querySelector('main').offsetHeight && told(true))
          setTimeout(() => told(false), 20_000)
        })`,
      )
      await page.setViewportSize(NARROW)
      t.ok(await isTold, 'the page around it can give it its height')
      t.equal(await page.getByRole('navigation').count(), 0, time)
      t.equal(await page.getByRole('button', { name: /Sign out|Go to|Menu/ }).count(), 0, time)
      const scheme = await page.evaluate('getComputedStyle(document.documentElement).colorScheme')
      t.equal(scheme, 'dark', time)
      await page.setViewportSize(WIDE)
      await page.reload()
    }
    await settled(page)
    t.strictSame(await wcagProblems(page), [])
    await screenshot(page, 'portal-embedded-1440-dark')
    await page.getByRole('link', { name: 'See why' }).click()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    t.pass('every list leads back to the overview')
  })
})
