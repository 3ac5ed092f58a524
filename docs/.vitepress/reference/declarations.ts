/** Reads the declarations of source files with their comments: what the pages of the reference are made of. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../../..')

export const sourceOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** The source files of the packages that a host registers, in a stable order. */
export const sources = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).toSorted()

export interface Comment {
  /** One paragraph of Markdown. */
  text: string
  /** What follows `@default`. */
  default?: string | undefined
}

export interface Member extends Comment {
  name: string
  type: string
  isOptional: boolean
}

export interface Interface extends Comment {
  members: Member[]
}

const COMMENT = String.raw`/\*\*((?:(?!\*/)[^])*)\*/\s*`

/** The interfaces of a text by their names. */
export function interfacesIn(text: string): Map<string, Interface> {
  const pattern = new RegExp(
    `(?:${COMMENT})?^export interface (\\w+)[^{\\n]*\\{\\n([^]*?)^\\}`,
    'gm',
  )
  return new Map(
    [...text.matchAll(pattern)].map(([, comment, name = '', body = '']) => [
      name,
      { ...commentOf(comment), members: membersIn(body) },
    ]),
  )
}

function membersIn(body: string): Member[] {
  const pattern = new RegExp(
    `^ {2}(?:${COMMENT})?(?:readonly )?(\\w+)(\\??): ([^]*?)(?=\\n {2}(?:/\\*\\*|\\w)|\\n*$(?![^]))`,
    'gm',
  )
  return [...body.matchAll(pattern)].map(([, comment, name = '', mark, type = '']) => ({
    ...commentOf(comment),
    name,
    isOptional: mark === '?',
    type: type
      .replaceAll(/\/\*\*[^]*?\*\//g, '')
      .replaceAll(/\s+/g, ' ')
      .replace(/^\| /, '')
      .replace(/ \| undefined$/, '')
      .trim(),
  }))
}

/** The comment without its stars, links and examples. */
export function commentOf(comment = ''): Comment {
  const plain = comment
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join('\n')
    .replace(/\n@example[^]*$/, '')
    .replaceAll(/\{@link ([^}]+)\}/g, '`$1`')
  const [text = '', byDefault] = plain.split(/@default/)
  return {
    text: paragraph(text.replaceAll(/@\w+[^]*$/g, '')),
    default: byDefault === undefined ? undefined : paragraph(byDefault.replace(/@\w+[^]*$/, '')),
  }
}

const paragraph = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

export interface Constant extends Comment {
  name: string
  value: string
}

/** A table of Markdown. Line breaks and bars in cells would end them. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('')
}

export const code = (text: string): string => (text === '' ? '' : `\`${text}\``)
