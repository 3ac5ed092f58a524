/** The built page: its files are read once, at boot, and served from memory. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { PageMissing } from '../errors.ts'
import { PACKAGE_FOLDER } from '../package-folder.ts'

export interface Asset {
  type: string
  body: Buffer
  /** `null` where it would be no shorter. */
  gzipped: Buffer | null
  etag: string
}

export interface PageFiles {
  /** The page, mounted at `base`. */
  index: Asset
  /** Assets by their path below that of the page. */
  assets: ReadonlyMap<string, Asset>
}

/** The settings of the host for the page. */
export interface Mount {
  /** Its path in browsers. */
  base: string
  /** What it calls itself, shown before the script has run. */
  name: string
  /** Its sign; `null` for ours. */
  logo: string | null
}

const FOLDER = fileURLToPath(new URL('web-dist/', PACKAGE_FOLDER))

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
}

/** @throws PageMissing naming the command that builds it */
export function readPage(mount: Mount, folder = FOLDER): PageFiles {
  const assets = new Map<string, Asset>()
  try {
    for (const name of readdirSync(join(folder, 'assets'))) {
      const type = TYPES[extname(name)]
      if (type === undefined) continue
      assets.set(name, assetOf(type, readFileSync(join(folder, 'assets', name))))
    }
    const built = readFileSync(join(folder, 'index.html'), 'utf8')
    return { index: assetOf('text/html; charset=utf-8', mounted(mount, built)), assets }
  } catch (error) {
    throw Object.assign(new PageMissing(folder), { cause: error })
  }
}

/** The build has neither: its references begin with `./assets/`. */
function mounted({ base, name, logo }: Mount, html: string): Buffer {
  const sign = (ours: string) => (logo === null ? ours : `<img src="${escaped(logo)}" alt="">`)
  const text = html
    .replace(/<svg class="brand-mark".*?<\/svg>/s, sign)
    .replaceAll('"./assets/', `"${base}/assets/`)
    .replaceAll('"%BASE%', `"${base}`)
    // Functions are given because a `$` in a name is no pattern.
    .replaceAll('%NAME%', () => escaped(name))
  return Buffer.from(text)
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

function assetOf(type: string, body: Buffer): Asset {
  const gzipped = gzipSync(body, { level: 9 })
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  return { type, body, gzipped: gzipped.length < body.length ? gzipped : null, etag }
}
