/** Findings as text: for the terminal, as Markdown and as JSON. */
import type { Finding, Row } from './benchmark.ts'
import { intervalOf, ratiosOf, summaryOf, type Interval, type Summary } from './measure.ts'

/** The goal of a row's median: its own figure, or its ratio to another row. */
export type Goal =
  | { ratioAtLeast: number; aim?: number }
  | { ratioAtMost: number }
  /** The lower end of the interval of 95 % around the median of the ratios. */
  | { ratioSurelyAtLeast: number }
  | { atMost: number }
  | { atLeast: number }

export interface Report {
  startedAt: string
  machine: Record<string, string>
  benchmarks: {
    name: string
    title: string
    seconds: number
    postgres: Record<string, string>
    findings: Finding[]
  }[]
}

/** A row with what is computed from its samples. */
interface Digest extends Row, Summary {
  ratio?: Summary
  interval?: Interval
  goalText?: string
  reached?: boolean
}

export function tableText(finding: Finding): string {
  const cells = [HEAD, ...digestOf(finding).map(cellsOf)]
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return isText(column) ? cell.padEnd(width) : cell.padStart(width)
      })
      .join('  ')
      .trimEnd(),
  )
  const { title, unit, better, settings, notes = [] } = finding
  const chosen = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  return [
    `${title}: ${unit}, ${better} is better`,
    ...(chosen.length > 0 ? [chosen.join(', ')] : []),
    '',
    ...lines,
    ...notes,
  ].join('\n')
}

export function asJson(report: Report): string {
  const benchmarks = report.benchmarks.map((benchmark) => ({
    ...benchmark,
    findings: benchmark.findings.map((finding) => ({ ...finding, rows: digestOf(finding) })),
  }))
  return `${JSON.stringify({ ...report, benchmarks }, null, 2)}\n`
}

/** The machine, and one table of every row that has a goal. */
export function asMarkdown(report: Report): string {
  const machine = Object.entries(report.machine).map(([name, value]) => `${name} ${value}`)
  const head = ['what', 'measured', 'beside', 'ratio', 'goal', '']
  const ruler = ['---', '--:', '--:', '--:', '---', '---']
  const rows = report.benchmarks.flatMap(({ findings }) => findings.flatMap(goalRows))
  return [
    `Measured ${report.startedAt.slice(0, 10)}: ${machine.join(', ')}.\n`,
    ...[head, ruler, ...rows].map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ].join('\n')
}

function goalRows(finding: Finding): string[][] {
  const digests = digestOf(finding)
  return digests
    .filter(({ goalText }) => goalText !== undefined)
    .map((row) => {
      const baseline = digests.find(({ name }) => name === row.against)
      return [
        `${finding.title}: ${row.name}`,
        `${figure(row.median)} ${finding.unit}`,
        baseline ? `${figure(baseline.median)} (${baseline.name})` : '',
        row.ratio ? ratio(row.ratio.median) : '',
        row.goalText ?? '',
        row.reached ? 'reached' : '**missed**',
      ]
    })
}

const HEAD = ['', 'median', 'quartiles', 'ratio', 'quartiles', 'goal']
const isText = (column: number): boolean => column === 0 || column === HEAD.length - 1

function cellsOf(row: Digest): string[] {
  const quartiles = ({ lowerQuartile, upperQuartile }: Summary, text: (n: number) => string) =>
    row.samples.length > 1 ? `${text(lowerQuartile)}–${text(upperQuartile)}` : ''
  return [
    row.name,
    figure(row.median),
    quartiles(row, figure),
    row.ratio ? ratio(row.ratio.median) : '',
    row.ratio ? quartiles(row.ratio, ratio) : '',
    row.goalText ? `${row.goalText}: ${row.reached ? 'reached' : 'MISSED'}` : '',
  ]
}

function digestOf(finding: Finding): Digest[] {
  return finding.rows.map((row) => {
    const digest: Digest = { ...row, ...summaryOf(row.samples) }
    const baseline = finding.rows.find(({ name }) => name === row.against)
    if (baseline) {
      const ratios = ratiosOf(row.samples, baseline.samples, finding.better)
      digest.ratio = summaryOf(ratios)
      const interval = intervalOf(ratios)
      if (interval) digest.interval = interval
    }
    if (row.goal) {
      digest.goalText = goalText(row.goal, digest.interval)
      digest.reached = isReached(row.goal, digest.median, digest.ratio?.median, digest.interval)
    }
    return digest
  })
}

export function goalText(goal: Goal, interval?: Interval): string {
  if ('atMost' in goal) return `≤ ${goal.atMost}`
  if ('atLeast' in goal) return `≥ ${goal.atLeast}`
  if ('ratioAtMost' in goal) return `ratio ≤ ${goal.ratioAtMost}`
  if ('ratioSurelyAtLeast' in goal) {
    const found = interval?.map((end) => end.toFixed(3)).join('–') ?? 'too few samples'
    return `ratio ≥ ${goal.ratioSurelyAtLeast} at 95 % (${found})`
  }
  return `ratio ≥ ${goal.ratioAtLeast}${goal.aim === undefined ? '' : `, aim ${goal.aim}`}`
}

export function isReached(
  goal: Goal,
  median: number,
  medianRatio = Number.NaN,
  interval?: Interval,
): boolean {
  if ('atMost' in goal) return median <= goal.atMost
  if ('atLeast' in goal) return median >= goal.atLeast
  if ('ratioAtMost' in goal) return medianRatio <= goal.ratioAtMost
  if ('ratioSurelyAtLeast' in goal) return (interval?.[0] ?? 0) >= goal.ratioSurelyAtLeast
  return medianRatio >= goal.ratioAtLeast
}

/** Three significant digits, thousands apart. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  const [whole = '', fraction] = value.toFixed(decimals).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ' ')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Two decimals: ratios vary by more than that from run to run. */
export function ratio(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 10 ? figure(value) : value.toFixed(value < 0.1 ? 3 : 2)
}
