/** A host that listens, with a life of its own, and a browser that looks at its console. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { BOOTSTRAP_KEY, startHost, type Host, type HostOptions } from '../../support/host.ts'
import { openBrowser } from './chromium.ts'

/** Where a person can look at them; not in the repository. */
const SCREENSHOTS = join(import.meta.dirname, '../screenshots')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const WIDE = { width: 1440, height: 900 }
export const NARROW = { width: 390, height: 844 }

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
}

/** Calls `look` with a host and a browser, or skips where there is none. */
export async function withConsole(
  t: Test,
  options: HostOptions,
  look: (visit: Visit) => Promise<void>,
): Promise<void> {
  const browser = await openBrowser()
  if (!browser) {
    t.pass('skipped: no browser. Install Chrome, or run this on Linux x64')
    return
  }
  try {
    const host = await startHost(t, options)
    const url = await host.app.listen({ host: '127.0.0.1', port: 0 })
    await look(visitOf(t, host, url, browser))
  } finally {
    await browser.close()
  }
}

function visitOf(t: Test, host: Host, url: string, browser: Browser): Visit {
  const open: Visit['open'] = async (options = {}) => {
    const context = await browser.newContext({ viewport: WIDE, ...options })
    context.setDefaultTimeout(20_000)
    const page = await context.newPage()
    page.on('pageerror', (error) => t.fail(`the page threw: ${error.message}`))
    page.on('console', (message) => {
      // Of a refused call the browser says so itself; that the page shows it is tested.
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

interface Violation {
  id: string
  nodes: { target: unknown; failureSummary?: string }[]
}

/** What axe finds wrong by WCAG 2.2 AA, in a form that says where. */
export async function wcagProblems(page: Page): Promise<string[]> {
  // The policy of the page lets no script in; the browser's own door does.
  await page.evaluate(AXE)
  const violations = await page.evaluate(async (): Promise<Violation[]> => {
    const { axe } = globalThis as unknown as {
      axe: { run: (options: object) => Promise<{ violations: Violation[] }> }
    }
    const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    return (await axe.run({ runOnly: { type: 'tag', values } })).violations
  })
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary ?? ''}`),
  )
}

/** How far the page can be scrolled sideways, which it never should. */
export const sidewaysPixels = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth')

export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}
