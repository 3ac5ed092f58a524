/** What is built: small, whole, and without anything that a strict policy would refuse. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { builtPage } from '../support/built-page.ts'

/** Addresses of a specification, and of an example in a placeholder. */
const NAMES = /^https?:\/\/(www\.w3\.org\/|example\.com\/|\.)/

t.test('the page has under 100 kB gzipped, and loads nothing from other hosts', async (t) => {
  const folder = await builtPage()
  const files = globSync('**/*.{html,js,css,svg,woff2}', { cwd: folder })
  let bytes = 0
  for (const file of files) {
    const content = readFileSync(join(folder, file))
    // Browsers ask for the second part of the typeface only where a text has its letters.
    if (!file.includes('latin-ext')) bytes += gzipSync(content).length
    if (file.endsWith('.woff2')) continue
    const foreign = content
      .toString()
      .match(/https?:\/\/[^"'`\s)]+/g)
      ?.filter((url) => !NAMES.test(url))
    t.strictSame(foreign ?? [], [], `${file} names other hosts`)
  }
  t.ok(bytes < 100_000, `${bytes} bytes`)
  t.comment(`the page has ${bytes} bytes gzipped`)
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  t.match(html, 'name="svc-console-base" content="%BASE%"')
  t.notMatch(html, /<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/, 'nothing stands inline')
  t.notMatch(html, /(src|href)="(?!\.\/assets\/|%BASE%\/api\/session")/, 'all of it is hashed')
})
