/** What a tenant sees by a link of the portal: its own, as far as it may, in the host's colours. */
import t from 'tap'
import { bringToLife, lively } from './support/life.ts'
import { screenshot, wcagProblems, withConsole } from './support/visit.ts'

t.test('a tenant sees its own, under the name and the colour of the host', async (t) => {
  const theme = { name: 'Acme Orders', accent: '#ffcc00' }
  await withConsole(t, lively({ console: { theme } }), async (visit) => {
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

    await page.goto(`${visit.url}/console/webhooks/${healthy}`)
    await page.getByRole('alert').waitFor()
    await page.goto(`${visit.url}/console/webhooks/${failing}`)
    await page.getByRole('heading', { name: 'Warehouse' }).waitFor()
    await page.goto(`${visit.url}/console/health`)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  })
})
