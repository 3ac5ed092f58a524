import type { Finding } from '../benchmark.ts'
import { digestOf, type Digest } from './digest.ts'
import { figure, ratio } from './numbers.ts'

const HEAD = ['', 'median', 'quartiles', 'ratio', 'quartiles', 'goal']

/** A finding as lines for the terminal. */
export function tableText(finding: Finding): string {
  const cells = [HEAD, ...digestOf(finding).map(cellsOf)]
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column === HEAD.length - 1
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
  return [...headLines(finding), '', ...lines, ...notesOf(finding)].join('\n')
}

/** The same as a table of Markdown. */
export function tableMarkdown(finding: Finding): string {
  const [first, ...rest] = headLines(finding)
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [
    `**${first}**`,
    '',
    ...rest,
    '',
    line(HEAD),
    line(HEAD.map((_, column) => (column === 0 || column === HEAD.length - 1 ? '---' : '--:'))),
    ...digestOf(finding).map((row) => line(cellsOf(row))),
    ...notesOf(finding),
  ].join('\n')
}

function cellsOf(row: Digest): string[] {
  return [
    row.name,
    figure(row.median),
    row.samples.length > 1 ? `${figure(row.lowerQuartile)}–${figure(row.upperQuartile)}` : '',
    row.ratio ? ratio(row.ratio.median) : '',
    row.ratio && row.samples.length > 1
      ? `${ratio(row.ratio.lowerQuartile)}–${ratio(row.ratio.upperQuartile)}`
      : '',
    row.goalText ? `${row.goalText}: ${row.reached ? 'reached' : 'MISSED'}` : '',
  ]
}

function headLines({ title, unit, better, settings }: Finding): string[] {
  const chosen = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  return [`${title}: ${unit}, ${better} is better`, ...(chosen.length ? [chosen.join(', ')] : [])]
}

const notesOf = ({ notes }: Finding): string[] => (notes?.length ? ['', ...notes] : [])
