import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import { SITE } from '../../docs/.vitepress/addresses.ts'
import { sitePages } from '../../docs/.vitepress/generate.ts'
import { listed } from '../../docs/.vitepress/sidebar.ts'
import { pictures, twinOf } from '../../docs/.vitepress/twins.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The pages that the build writes, by their paths. */
const written = await sitePages()
const textOf = (file: string): string | undefined =>
  written[relative('docs', file)] ??
  (existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : undefined)

const documents = [
  ...globSync(
    ['*.md', 'contributing/*.md', 'docs/**/*.md', 'examples/*.md', 'bench/*.md', 'packages/*/*.md'],
    {
      cwd: ROOT,
      exclude: ['**/node_modules/**', 'docs/reference/**', 'docs/inbound/providers/**'],
    },
  ),
  ...Object.keys(written).map((page) => `docs/${page}`),
].toSorted()

/** As VitePress makes them of headings: a digit at the beginning gets a `_` before it. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .replace(/^\d/, '_$&')
    .toLowerCase()

function anchorsOf(text: string): Set<string> {
  const lines = text.replaceAll(/^```[^]*?^```/gm, '').split('\n')
  return new Set(
    lines.flatMap((line) => {
      const [, heading = '', set] = /^#{1,4} (.*?)(?: \{#([\w-]+)\})?$/.exec(line) ?? []
      return heading === '' ? [] : [set ?? anchorOf(heading)]
    }),
  )
}

/** Where a link of a document leads: a file of the repository. */
function targetOf(document: string, path: string): string {
  if (path === '') return document
  if (path.startsWith(SITE)) return `docs${path.slice(SITE.length).replace(/\/$/, '/index')}.md`
  if (path.startsWith('/')) return `docs${path}.md`
  return join(dirname(document), path)
}

t.test('each link of a document leads to a file, and to a heading in it', async (t) => {
  t.ok(documents.length > 200, `${documents.length} documents`)
  const dead: string[] = []
  for (const document of documents) {
    const text = textOf(document)!.replaceAll(/^```[^]*?^```/gm, '')
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(?:https?|mailto):/.test(link) && !link.startsWith(`${SITE}/`)) continue
      const [path = '', anchor] = link.split('#')
      const target = targetOf(document, path)
      const found = existsSync(join(ROOT, target)) || textOf(target) !== undefined
      const isDead = !found || (anchor !== undefined && !anchorsOf(textOf(target)!).has(anchor))
      if (isDead) dead.push(`${document}: ${link}`)
    }
  }
  t.strictSame(dead, [])
})

t.test('each link of a page as Markdown leads to what the site has at that address', async (t) => {
  const onSite = new Set([
    ...documents.filter((file) => file.startsWith('docs/')).map((file) => file.slice(5)),
    ...pictures(),
    ...globSync('**/*.*', { cwd: join(ROOT, 'docs/public') }),
  ])
  for (const file of globSync('*/*.md', { cwd: join(ROOT, 'docs'), exclude: ['node_modules'] })) {
    const text = twinOf(file.slice(0, -3)).replaceAll(/^```[^]*?^```/gm, '')
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    const dead = links.filter((link) => {
      if (!link.startsWith(`${SITE}/`)) return !/^(?:https?:|mailto:|#)/.test(link)
      return !onSite.has(link.slice(SITE.length + 1).replace(/#.*/, ''))
    })
    t.strictSame(dead, [], file)
  }
})

t.test('links of the READMEs of packages are absolute: a tarball has no other file', async (t) => {
  for (const document of documents.filter((file) => file.startsWith('packages/'))) {
    for (const [, link] of textOf(document)!.matchAll(/\]\(([^)\s]+)\)/g)) {
      t.match(link, /^(?:https:|#)/, document)
    }
  }
})

t.test('a guide has at most 1 200 words, and stands in the sidebar', async (t) => {
  const inSidebar = new Set(listed().map((path) => `docs/${path}.md`))
  for (const page of inSidebar) t.ok(textOf(page) !== undefined, `${page} is there`)
  const guides = documents.filter(
    (file) =>
      /^docs\/[\w-]+\/[\w-]+\.md$/.test(file) && written[relative('docs', file)] === undefined,
  )
  t.ok(guides.length > 40, `${guides.length} guides`)
  for (const guide of guides) {
    t.ok(textOf(guide)!.match(/\S*[\p{L}\p{N}]\S*/gu)!.length <= 1200, guide)
    t.ok(inSidebar.has(guide), `${guide} stands in docs/.vitepress/sidebar.ts`)
  }
})

t.test('each command that a document, a workflow or .ci/run names is a script', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const files = globSync(
    ['*.md', 'contributing/*.md', '.changeset/*.md', '.github/**/*.yml', '.ci/run'],
    { cwd: ROOT },
  )
  const named = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/pnpm@10 ([a-z][\w:-]*)/g)].map(
      ([, command = '']) => ({ file, command }),
    ),
  )
  t.ok(named.length > 40, `${named.length} commands`)
  for (const { file, command } of named) {
    const isKnown = command in scripts || ['install', 'audit', 'publish'].includes(command)
    t.ok(isKnown, `${command} in ${file}`)
  }
  // pnpm 10 hands them to npm: `pnpm docs` opens the homepage.
  for (const taken of ['docs', 'home', 'bugs', 'repo', 'version']) t.notOk(taken in scripts, taken)
})
