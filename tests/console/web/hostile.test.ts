/** Payloads that strangers wrote are text on the page, whatever is in them. */
import t from 'tap'
import { until } from '../../support/until.ts'
import { startReceiver } from '../../webhooks/support/receiver.ts'
import { lively } from './support/life.ts'
import { NARROW, sidewaysPixels, withConsole } from './support/visit.ts'

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
const BIDI = '\u202egnp.exe \u0645\u0631\u062d\u0628\u0627'
const EMOJI = '👩‍👩‍👧‍👦'.repeat(200)

t.test('markup, megabytes, text from right to left: the page stays a page', async (t) => {
  await withConsole(t, lively(), async (visit) => {
    const { svc } = visit.app
    const receiver = await startReceiver(t, (_request, reply) => {
      reply.writeHead(500, { 'content-type': 'text/html' })
      reply.end(MARKUP + BIDI)
    })
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
      long: 'x'.repeat(3_000_000),
    }
    await svc.events.publish('order.created', payload)
    const [letter] = await until(
      () => svc.webhooks.listDeadLetters(id),
      (letters) => letters.length === 1,
    )
    const page = await visit.signedIn({ viewport: NARROW })
    const paths = [
      'webhooks',
      `webhooks/${id}`,
      'deliveries',
      `deliveries/${id}/${letter!.deliveryId}`,
      'events',
      `events/order.created/${letter!.eventId}`,
      'audit',
    ]
    for (const path of paths) {
      await page.goto(`${visit.url}/console/${path}`)
      await page
        .locator('main')
        .getByText(/img src|order\.created/)
        .filter({ visible: true })
        .first()
        .waitFor()
      t.equal(await sidewaysPixels(page), 0, `${path} scrolls sideways`)
      t.equal(await page.locator('main img, main script').count(), 0, path)
      t.match(await page.title(), /Console$/)
    }
    await page.goto(`${visit.url}/console/deliveries/${id}/${letter!.deliveryId}`)
    const body = page.getByLabel('payload', { exact: true })
    await body.getByText('\\u202egnp.exe').waitFor()
    t.ok((await body.innerText()).length < 10_000, 'megabytes are folded')
    await page.getByRole('button', { name: /^Show more/ }).click()
    await until(
      async () => (await body.innerText()).length,
      (length) => length > 90_000,
    )
  })
})
