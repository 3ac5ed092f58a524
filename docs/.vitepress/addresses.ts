import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** The root's package.json is the one place where the addresses of the site and the repository stand. */
const root = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  homepage: string
  repository: { url: string }
}

export const SITE = root.homepage
/** Its path, as of a site of GitHub Pages below the name of the repository: `/svc/`. */
export const BASE = `${new URL(SITE).pathname.replace(/\/$/, '')}/`
export const REPOSITORY = root.repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

/**
 * Where a link of a page leads on the site, if not to where it leads in the folders: out of `docs`
 * to a file of the repository, and into `public` to the root of the site.
 * @param page The path of the page, from `docs`.
 */
export function addressOf(page: string, link: string): string {
  if (!link.startsWith('../')) return link
  const target = normalize(join('docs', dirname(page), link))
  if (target.startsWith('docs/public/')) return target.slice('docs/public'.length)
  return target.startsWith('docs/') ? link : `${REPOSITORY}/blob/main/${target}`
}
