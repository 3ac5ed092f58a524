/** What a hand does on the page. */
import type { Page } from 'playwright-core'

/** A button that is busy is waited for. */
export const click = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).click()

/** The same, within the dialog that is open. */
export const confirm = (page: Page, name: string | RegExp) =>
  page.getByRole('dialog').getByRole('button', { name }).click()
