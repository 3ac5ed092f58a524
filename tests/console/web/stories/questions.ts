/** What a new operator asks, beside jobs.ts: each answer is on the page within three clicks from the overview. */
import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { goTo } from '../support/visit.ts'

const MOST_CLICKS = 3

interface Question {
  asked: string
  /** Where to click, one after the other. */
  clicks: (page: Page) => Locator[]
  /** Text that answers it. */
  answers: (string | RegExp)[]
}

const screen = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name, exact: true })
const link = (page: Page, name: string | RegExp) =>
  page.getByRole('main').getByRole('link', { name }).first()

export const QUESTIONS: readonly Question[] = [
  {
    asked: 'Which key is unused?',
    clicks: (page) => [screen(page, 'API keys')],
    answers: [/Reporting.*never/s],
  },
  {
    asked: 'What came of this event?',
    clicks: (page) => [screen(page, 'Events'), link(page, 'order.created')],
    answers: ['What came of it', 'Warehouse', 'Dead'],
  },
  {
    asked: 'What is lost unless somebody sends it again?',
    clicks: (page) => [link(page, 'Redrive')],
    answers: ['Redrive all of this webhook', /…[0-9a-f]{8}/],
  },
  {
    asked: 'Who changed this webhook?',
    clicks: (page) => [screen(page, 'Audit')],
    answers: [/webhook\.create.*The application/s],
  },
  {
    asked: 'How long does this receiver take?',
    clicks: (page) => [screen(page, 'Webhooks'), link(page, 'Billing')],
    answers: [/How long receivers take.*Median [\d.]+ m?s/s],
  },
  {
    asked: 'What does this event carry?',
    clicks: (page) => [screen(page, 'Catalogue')],
    answers: ['An order was placed and paid.', '"total": 129.5'],
  },
  {
    asked: 'What may this key do, and whose is it?',
    clicks: (page) => [screen(page, 'API keys'), link(page, 'Reporting')],
    answers: [/Scopes\s*read/, /User\s*Ada Lovelace/],
  },
  {
    asked: 'What has this customer?',
    clicks: (page) => [screen(page, 'Tenants')],
    answers: [/acme\s*1\s*1\s*2/],
  },
  {
    asked: 'Does anything pile up?',
    clicks: (page) => [link(page, 'Waiting')],
    answers: ['Database', /Queue.*Deliveries\s*0\s*0\s*–\s*3/],
  },
  {
    asked: 'Is all well, what runs, and for how long is it kept?',
    clicks: (page) => [screen(page, 'Health')],
    answers: [
      /Failing webhooks: 1\..*Dead letters: 3\./,
      /Processes.*This one.*\d+\.\d+\.\d+/,
      /Kept for.*Events\s*30 days.*Inbound requests\s*7 days.*The audit\s*365 days/,
    ],
  },
]

/** Data of `bringToLife`, as it is before anybody has mended it. */
export async function answers(t: Test, page: Page) {
  for (const { asked, clicks, answers } of QUESTIONS) {
    await goTo(page, '')
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    const way = clicks(page)
    t.ok(way.length <= MOST_CLICKS, asked)
    for (const one of way) await one.click()
    for (const answer of answers) {
      // A dialog covers the screen that it was opened from.
      await page.locator('main, dialog').filter({ hasText: answer }).first().waitFor()
    }
    await page.keyboard.press('Escape')
  }
}
