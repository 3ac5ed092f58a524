import { readFileSync } from 'node:fs'

export const page = readFileSync(new URL('../../../../docs/hosts.md', import.meta.url), 'utf8')

/** The program or file of docs/hosts.md whose first line is a comment with its name. */
export function recipe(name: string, language = 'ts'): string {
  const block = new RegExp(`\`\`\`${language}\\n((?://|#) ${name}\\n[^]*?)\`\`\``)
  const [, text] = block.exec(page) ?? []
  if (text === undefined) throw new Error(`docs/hosts.md has no ${language} block ${name}`)
  return text
}
