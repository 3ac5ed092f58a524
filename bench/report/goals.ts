import type { Finding } from '../benchmark.ts'
import { digestOf, type Digest } from './digest.ts'
import { figure, ratio } from './numbers.ts'

const HEAD = ['what', 'measured', 'beside', 'ratio', 'goal', '']

/** What was to be reached, over all findings, as one table of Markdown; nothing where there is none. */
export function goalsMarkdown(findings: Finding[]): string[] {
  const rows = findings.flatMap((finding) => {
    const digests = digestOf(finding)
    return digests
      .filter(({ goalText }) => goalText !== undefined)
      .map((row) => cellsOf(finding, row, digests))
  })
  if (rows.length === 0) return []
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const ruler = HEAD.map((_, column) => ([1, 2, 3].includes(column) ? '--:' : '---'))
  return [[line(HEAD), line(ruler), ...rows.map(line)].join('\n')]
}

function cellsOf({ title, unit }: Finding, row: Digest, all: Digest[]): string[] {
  const baseline = all.find(({ name }) => name === row.against)
  return [
    `${title}: ${row.name}`,
    `${figure(row.median)} ${unit}`,
    baseline ? `${figure(baseline.median)} (${baseline.name})` : '',
    row.ratio ? ratio(row.ratio.median) : '',
    row.goalText ?? '',
    row.reached ? 'reached' : '**missed**',
  ]
}
