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
 * The address of a link that leads out of `docs`, where it leads to a file of the repository.
 * @param page The path of the page, from `docs`.
 */
export function inRepository(page: string, link: string): string {
  if (!link.startsWith('../')) return link
  const target = normalize(join('docs', dirname(page), link))
  return target.startsWith('docs/') ? link : `${REPOSITORY}/blob/main/${target}`
}
