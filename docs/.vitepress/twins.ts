/** For programs that read: each page as Markdown beside its HTML, `llms.txt` and `llms-full.txt`. */
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { addressOf, SITE } from './addresses.ts'
import { fileOf, groups, titleOf } from './sidebar.ts'

const DOCS = join(import.meta.dirname, '..')
const HEAD = `# svc

> API keys and webhooks for Fastify 5 applications, as plugins. All state is in the Postgres that the application already has. Packages: @svc/core, @svc/auth, @svc/webhooks, @svc/console, @svc/receiver, @svc/providers, @svc/testing, @svc/cli, @svc/nest.
`

/** @param pages The files of all pages, from `docs`. */
export function writeTwins(folder: string, pages: string[]): void {
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  for (const page of pages) write(page, twinOf(page.replace(/\.md$/, '')))
  const index = [HEAD]
  const full = [HEAD]
  for (const { title, pages: ofGroup } of groups()) {
    index.push(`\n## ${title}\n\n`)
    for (const { path, title: heading } of ofGroup) {
      index.push(`- [${heading}](${SITE}/${path}.md)\n`)
      full.push(`\n${twinOf(path)}`)
    }
  }
  // The full text has the list of the providers, which is a page of the sidebar.
  const providers = pages.filter((page) => /^inbound\/providers\/(?!index)/.test(page))
  index.push('\n## Providers of webhooks in\n\n')
  for (const page of providers) {
    index.push(`- [${titleOf(page.replace(/\.md$/, ''))}](${SITE}/${page})\n`)
  }
  write('llms.txt', index.join(''))
  write('llms-full.txt', full.join(''))
  for (const picture of pictures()) copyFileSync(join(DOCS, picture), join(folder, picture))
}

/** The build puts pictures elsewhere, under names of its own: twins have them beside them. */
export const pictures = (): string[] =>
  globSync('*/*.{png,svg}', { cwd: DOCS, exclude: ['public', 'node_modules'] })

/** The text of a page, whose links lead somewhere wherever it is read. */
export const twinOf = (path: string): string =>
  readFileSync(fileOf(path), 'utf8').replaceAll(/\]\(([^)\s]+)\)/g, (whole, link: string) => {
    if (/^(?:[a-z]+:|#)/.test(link)) return whole
    const target = addressOf(`${path}.md`, link)
    if (target.startsWith('/')) return `](${SITE}${target})`
    return `](${target === link ? new URL(link, `${SITE}/${path}.md`).href : target})`
  })
