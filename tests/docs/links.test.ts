import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { SITE } from '../../docs/.vitepress/addresses.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Pages that the build of the site writes. */
const WRITTEN = ['reference/', 'inbound/providers/']

/** Links outside of blocks of code. */
function linksOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^```[^]*?^```$/gm, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
}

t.test('links of the READMEs of packages lead to pages of the site that there are', async (t) => {
  const readmes = globSync('packages/*/README.md', { cwd: ROOT })
  const links = readmes.flatMap((file) => linksOf(file).map((link) => ({ file, link })))
  t.ok(links.some(({ link }) => link.startsWith(`${SITE}/`)))
  for (const { file, link } of links) {
    // In a tarball there is nothing that a relative link could lead to.
    if (!t.match(link, /^(?:https:|#)/, `${file}: ${link}`)) continue
    const [path = ''] = link.startsWith(`${SITE}/`) ? link.slice(SITE.length + 1).split('#') : []
    if (path === '' || WRITTEN.some((folder) => path.startsWith(folder))) continue
    t.ok(existsSync(join(ROOT, 'docs', `${path}.md`)), `${file}: ${link}`)
  }
})

t.test('relative links of other documents lead to files that there are', async (t) => {
  const documents = globSync(['*.md', 'docs/*.md', 'docs/*/*.md', 'examples/README.md'], {
    cwd: ROOT,
    exclude: WRITTEN.map((folder) => `docs/${folder}**`),
  })
  for (const file of documents) {
    for (const link of linksOf(file)) {
      const [path = ''] = link.split('#')
      if (path === '' || /^[a-z]+:|^\//.test(path)) continue
      const target = join(dirname(file), path)
      if (WRITTEN.some((folder) => target.startsWith(`docs/${folder}`))) continue
      t.ok(existsSync(join(ROOT, target)), `${file}: ${link}`)
    }
  }
})
