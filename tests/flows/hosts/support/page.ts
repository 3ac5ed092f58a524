import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const HOSTS = join(import.meta.dirname, '../../../../docs/hosts')

/** The guides of hosts, one after another. */
export const page = globSync('*.md', { cwd: HOSTS })
  .toSorted()
  .map((name) => readFileSync(join(HOSTS, name), 'utf8'))
  .join('\n')

/** The program or file of these guides whose first line is a comment with its name. */
export function recipe(name: string, language = 'ts'): string {
  const block = new RegExp(`\`\`\`${language}\\n((?://|#) ${name}\\n[^]*?)\`\`\``)
  const [, text] = block.exec(page) ?? []
  if (text === undefined) throw new Error(`docs/hosts has no ${language} block ${name}`)
  return text
}
