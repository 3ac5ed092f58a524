/** A host that listens, with a life of its own, and a browser that looks at its console. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { until } from '../../../support/until.ts'
import { BOOTSTRAP_KEY, startHost, type Host, type HostOptions } from '../../support/host.ts'
import { openBrowser } from './chromium.ts'

/** Where a person can look at them; not in the repository. */
const SCREENSHOTS = join(import.meta.dirname, '../screenshots')
/** Each takes a quarter of a second: half of them are enough for every run. */
const ALL_SCREENSHOTS = process.env['SVC_SCREENSHOTS'] === 'all'
/** Of a machine that runs other things as well: what hangs is ended by the test's own timeout. */
const PATIENCE_MS = 90_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const WIDE = { width: 1440, height: 900 }
export const NARROW = { width: 390, height: 844 }
/** Down to the width of the smallest phones, and of a page of 1280 at four times its size. */
export const SIZES = [
  WIDE,
  { width: 1920, height: 1080 },
  { width: 1280, height: 800 },
  { ...NARROW, width: 320 },
  NARROW,
]

export interface Visit extends Host {
  url: string
  /** A context of its own is another browser to the host: it shares no cookie. */
  open: (options?: ContextOptions) => Promise<{ page: Page; context: BrowserContext }>
  /** Opens the console, signed in with the bootstrap key. */
  signedIn: (options?: ContextOptions) => Promise<Page>
}

interface ContextOptions {
  viewport?: { width: number; height: number }
  colorScheme?: 'light' | 'dark'
  timezoneId?: string
}

/** One for a test file: it takes seconds to start. */
let browser: Promise<Browser | undefined> | undefined
t.teardown(async () => {
  await (await browser)?.close()
})

/** Calls `look` with a host and a browser, or skips where there is none. */
export async function withConsole(
  t: Test,
  options: HostOptions,
  look: (visit: Visit) => Promise<void>,
): Promise<void> {
  browser ??= openBrowser()
  const opened = await browser
  if (!opened) {
    t.pass('skipped: no browser. Install Chrome, or run this on Linux x64')
    return
  }
  const contexts: BrowserContext[] = []
  try {
    const host = await startHost(t, options)
    const url = await host.app.listen({ host: '127.0.0.1', port: 0 })
    await look(visitOf(t, host, url, opened, contexts))
  } finally {
    for (const context of contexts) await context.close()
  }
}

function visitOf(
  t: Test,
  host: Host,
  url: string,
  browser: Browser,
  contexts: BrowserContext[],
): Visit {
  const open: Visit['open'] = async (options = {}) => {
    const context = await browser.newContext({
      viewport: WIDE,
      // A colour that fades into another is neither.
      reducedMotion: 'reduce',
      ...options,
    })
    contexts.push(context)
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    page.on('pageerror', (error) => t.fail(`the page threw: ${error.message}`))
    page.on('console', (message) => {
      // The browser itself logs a refused call; that the page shows it is tested.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return
      t.fail(`the browser complained: ${message.text()}`)
    })
    return { page, context }
  }
  return {
    ...host,
    url,
    open,
    async signedIn(options) {
      const { page } = await open(options)
      await page.goto(`${url}/console`)
      await page.getByLabel('API key').fill(BOOTSTRAP_KEY)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      return page
    },
  }
}

/** Goes to a screen as a link does, without loading the page anew. */
export const goTo = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/console/${path}`)})
    dispatchEvent(new PopStateEvent('popstate'))`,
  )

/** Everything that the screen has asked for is there. */
export const settled = (page: Page): Promise<unknown> =>
  until(
    () => page.locator('main :is(.loading, [aria-busy="true"])').count(),
    (left) => left === 0,
  )

/** Clicks what leads to a toast, which is gone after seconds: it is waited for from before the click. */
export async function toasted(page: Page, text: string, click: () => Promise<void>): Promise<void> {
  const toast = page.locator('.toasts').getByText(text, { exact: true }).first()
  await Promise.all([toast.waitFor(), click()])
}

interface Violation {
  id: string
  nodes: { target: unknown; failureSummary?: string }[]
}

/** What axe finds wrong by WCAG 2.2 AA, or by one of its rules, in a form that says where. */
export async function wcagProblems(page: Page, rule?: string): Promise<string[]> {
  // The policy of the page lets no script in; the browser's own door does.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE)
  const violations = await page.evaluate(async (one): Promise<Violation[]> => {
    const { axe } = globalThis as unknown as {
      axe: { run: (options: object) => Promise<{ violations: Violation[] }> }
    }
    const values = one ? [one] : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    const runOnly = { type: one ? 'rule' : 'tag', values }
    return (await axe.run({ runOnly, resultTypes: ['violations'] })).violations
  }, rule)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary ?? ''}`),
  )
}

/** How far the page can be scrolled sideways, which it never should. */
export const sidewaysPixels = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth')

/** What sticks out of its frame, or is cut by it. */
export const outOfFrame = (page: Page): Promise<string[]> =>
  page.evaluate(`[['main table', '.panel'], ['main svg text', 'svg'], ['.rail-foot', '.rail']].flatMap(
    ([parts, frame]) => [...document.querySelectorAll(parts)].filter((part) => {
      const [inner, outer] = [part, part.closest(frame)].map((one) => one.getBoundingClientRect())
      return inner.right > outer.right + 1 || inner.bottom > outer.bottom + 1
    }).map(({ textContent }) => parts + ': ' + textContent.slice(0, 60)))`)

/** `isExtra`: it is taken with `SVC_SCREENSHOTS=all` alone. */
export async function screenshot(page: Page, name: string, isExtra = false): Promise<void> {
  if (isExtra && !ALL_SCREENSHOTS) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}
