// Writes the pages of the site that follow from code; git ignores them. It runs before `vitepress dev` and
// `vitepress build`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { providerPages } from '../../scripts/provider-pages.ts'
import { boundsPage } from './reference/bounds.ts'
import { cliPage } from './reference/cli.ts'
import { errorsPage } from './reference/errors.ts'
import { eventsPage } from './reference/events.ts'
import { httpApiPage } from './reference/http-api.ts'
import { logLinesPage } from './reference/log-lines.ts'
import { metricsPage } from './reference/metrics.ts'
import { optionsPage } from './reference/options.ts'
import { promisesPage } from './reference/promises.ts'

/** The texts of the pages by their paths in `docs`. */
export async function sitePages(): Promise<Record<string, string>> {
  const pages: Record<string, string> = {
    'reference/options.md': optionsPage(),
    'reference/errors.md': errorsPage(),
    'reference/events.md': eventsPage(),
    'reference/log-lines.md': logLinesPage(),
    'reference/metrics.md': metricsPage(),
    'reference/http-api.md': httpApiPage(),
    'reference/bounds.md': boundsPage(),
    'reference/cli.md': await cliPage(),
    'reference/promises.md': promisesPage(),
  }
  for (const [name, text] of Object.entries(providerPages())) {
    pages[`inbound/providers/${name}.md`] = text
  }
  return pages
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const docs = join(import.meta.dirname, '..')
  for (const [page, text] of Object.entries(await sitePages())) {
    mkdirSync(dirname(join(docs, page)), { recursive: true })
    writeFileSync(join(docs, page), text)
  }
}
