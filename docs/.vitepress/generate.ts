// Writes the pages of the site that follow from code; git ignores them. Before `vitepress dev` and `vitepress build`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { providerPages } from '../../scripts/provider-pages.ts'
import { fileOf } from './sidebar.ts'

const PAGES: Record<string, () => string | Promise<string>> = {}
for (const [name, text] of Object.entries(providerPages())) {
  PAGES[`inbound/providers/${name}`] = () => text
}

for (const [path, text] of Object.entries(PAGES)) {
  mkdirSync(dirname(fileOf(path)), { recursive: true })
  writeFileSync(fileOf(path), await text())
}
