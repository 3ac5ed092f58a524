import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const DOCS = join(import.meta.dirname, '../../../../docs')

/** The guides of hosts, and that of their tests, one after another. */
export const page = [...globSync('hosts/*.md', { cwd: DOCS }), 'webhooks/test.md']
  .toSorted()
  .map((name) => readFileSync(join(DOCS, name), 'utf8'))
  .join('\n')

/** The program or file of these guides whose first line is a comment with its name. */
export function recipe(name: string, language = 'ts'): string {
  const block = new RegExp(`\`\`\`${language}\\n((?://|#) ${name}\\n[^]*?)\`\`\``)
  const [, text] = block.exec(page) ?? []
  if (text === undefined) throw new Error(`these guides have no ${language} block ${name}`)
  return text
}
