import { defineConfig } from 'vitepress'
import { addressOf, BASE, REPOSITORY, SITE } from './addresses.ts'
import { groups } from './sidebar.ts'
import { writeTwins } from './twins.ts'

export default defineConfig({
  title: 'svc',
  description: 'API keys and webhooks for Fastify, in the Postgres you already have',
  lang: 'en',
  base: BASE,
  cleanUrls: true,
  metaChunk: true,
  // It would ask git for each page, and a build in a container has no history.
  lastUpdated: false,
  // With the slash at the end, or the last part of its path is lost.
  sitemap: { hostname: `${SITE}/` },
  markdown: {
    config(markdown) {
      markdown.core.ruler.push('addresses-of-links', ({ env, tokens }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const link = token.attrGet('href')
          if (link !== null) token.attrSet('href', addressOf(env.relativePath, link))
        }
      })
    },
  },
  buildEnd: ({ outDir, pages }) => writeTwins(outDir, pages),
  themeConfig: {
    search: { provider: 'local' },
    sidebar: groups().map(({ title, pages }) => ({
      text: title,
      collapsed: true,
      items: pages.map((page) => ({
        text: page.title,
        link: `/${page.path.replace(/index$/, '')}`,
      })),
    })),
    outline: [2, 3],
    editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: 'Edit this page' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    externalLinkIcon: true,
  },
})
