/** An operator makes, changes, rotates and revokes a key. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { click, confirm } from '../support/gestures.ts'
import type { Life } from '../support/life.ts'
import { goTo, toasted, type Visit } from '../support/visit.ts'

export async function worksWithKeys(t: Test, page: Page, { app }: Visit, { userId }: Life) {
  await goTo(page, `users/${userId}`)
  await click(page, 'New key')
  await page.getByRole('dialog').getByLabel('Label').fill('Deploys')
  await page.getByLabel('orders:read').check()
  await click(page, 'Add a limit')
  await page.getByLabel('Limit 1: requests').fill('100')
  await page.getByLabel('Limit 1: seconds').fill('60')
  await confirm(page, 'Create key')
  const text = await page.getByRole('dialog').locator('.secret code').innerText()
  t.match(await app.svc.auth.validateApiKey(text), { valid: true, scopes: ['orders:read'] })
  await confirm(page, 'Done')
  await page.getByRole('heading', { name: 'Deploys' }).waitFor()
  const [key] = await app.svc.auth.listApiKeys({ userId, limit: 1 })
  t.match(key, { label: 'Deploys', tenant: 'acme', limits: [{ limit: 100, perSeconds: 60 }] })

  await toasted(page, 'Disabled: requests with it are refused', () => click(page, 'Disable'))
  t.match(await app.svc.auth.validateApiKey(text), { valid: false })
  await toasted(page, 'Enabled', () => click(page, 'Enable'))
  await click(page, 'Rotate')
  await confirm(page, 'Rotate')
  await page.getByRole('dialog').getByRole('heading', { name: 'The new key' }).waitFor()
  const next = await page.getByRole('dialog').locator('.secret code').innerText()
  await confirm(page, 'Done')
  t.match(await app.svc.auth.validateApiKey(next), { valid: true })
  await click(page, 'Revoke')
  await toasted(page, 'Revoked', () => confirm(page, 'Revoke'))
  t.match(await app.svc.auth.validateApiKey(next), { valid: false })
  // Who revoked it stands on the key itself.
  await page
    .getByText(/by Console|by API key|by Bootstrap/)
    .first()
    .waitFor()
  t.match(await app.svc.audit.list({ action: 'key.revoke' }), [{ actor: { kind: 'console' } }])
}

/** Those that end within a week are on the overview, and in the list with whose they are. */
export async function seesKeysThatEnd(t: Test, page: Page, { app }: Visit, { userId }: Life) {
  const expiresAt = new Date(Date.now() + 3 * 86_400_000).toISOString()
  for (const label of ['Ends soon', 'Made for three days']) {
    await app.svc.auth.createApiKey({ userId, label, scopes: ['read'], expiresAt })
  }
  await app.svc.database.query(
    `update svc."__svc.auth.api_keys" set created_at = now() - interval '90 days' where label = 'Ends soon'`,
  )
  await goTo(page, '')
  const item = page.getByRole('listitem').filter({ hasText: '1 key expires' })
  await item.getByText('Ends soon in 3 d').waitFor()
  await item.getByRole('link', { name: 'Look' }).click()
  const row = page.getByRole('row').filter({ hasText: 'Ends soon' })
  await row.waitFor()
  t.match(page.url(), /keys\?expiresWithinDays=7$/)
  await page.getByRole('row').filter({ hasText: 'Made for three days' }).waitFor()
  await row.getByRole('link', { name: 'Ada Lovelace' }).click()
  await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()
  await page.getByRole('link', { name: 'Ends soon' }).waitFor()
  t.equal(await page.getByRole('columnheader', { name: 'Owner' }).count(), 0)
}
