// The examples of docs/inbound.md, run as they stand there.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { InboundSource, Verify } from '@svc/webhooks'

const DOCUMENT = new URL('../../../packages/webhooks/docs/inbound.md', import.meta.url)
const HELPERS = ['basicAuth', 'bearerToken', 'headerToken', 'hmac']
const ROW = /<tr><td>\n\n(.+)\n\n<\/td><td>\n\n```ts\n([^]+?)\n```\n/g
const BLOCK = /^```ts\n([^]+?)\n```$/gm

export interface Examples {
  /** The tables' lines, by the provider's name as it stands in its row. */
  rows: Map<string, Verify>
  functions: Record<string, Verify>
  sources: Record<string, InboundSource>
}

/** Writes the examples into a folder as modules and imports them. */
export async function readExamples(folder: string): Promise<Examples> {
  const document = await readFile(DOCUMENT, 'utf8')
  const rows = [...document.matchAll(ROW)].map(([, name = '', code = '']) => ({ name, code }))
  const table = rows.map(({ name, code }) => `  [${JSON.stringify(name)}, ${code}],`).join('\n')
  const used = HELPERS.filter((helper) => table.includes(`${helper}(`)).join(', ')
  const tables = await load(
    folder,
    'rows',
    `import { ${used} } from '@svc/webhooks'\nexport const rows = new Map([\n${table}\n])`,
  )
  const blocks = [...document.matchAll(BLOCK)]
    .map(([, code = '']) => code)
    .filter((code) => code.includes('\nexport const '))
  const exported = await Promise.all(
    blocks.map((code, place) => load(folder, `block-${place}`, code)),
  )
  const all = Object.entries(Object.assign({}, ...exported) as Record<string, unknown>)
  return {
    rows: tables['rows'] as Map<string, Verify>,
    functions: Object.fromEntries(all.filter(([, it]) => typeof it === 'function')) as never,
    sources: Object.fromEntries(all.filter(([, it]) => typeof it === 'object')) as never,
  }
}

async function load(folder: string, name: string, code: string): Promise<Record<string, unknown>> {
  const file = join(folder, `${name}.ts`)
  await mkdir(folder, { recursive: true })
  await writeFile(file, code)
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>
}
