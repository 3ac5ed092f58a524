import type { Finding } from '../benchmark.ts'
import { digestOf } from './digest.ts'
import { goalsMarkdown } from './goals.ts'
import { tableMarkdown } from './table.ts'

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

export function asJson(report: Report): string {
  const benchmarks = report.benchmarks.map((benchmark) => ({
    ...benchmark,
    findings: benchmark.findings.map((finding) => ({ ...finding, rows: digestOf(finding) })),
  }))
  return `${JSON.stringify({ ...report, benchmarks }, null, 2)}\n`
}

export function asMarkdown(report: Report): string {
  const lines = (facts: Record<string, string>) =>
    Object.entries(facts).map(([name, value]) => `${name} ${value}`)
  return [
    `Measured ${report.startedAt.slice(0, 10)}: ${lines(report.machine).join(', ')}.`,
    ...goalsMarkdown(report.benchmarks.flatMap(({ findings }) => findings)),
    ...report.benchmarks.flatMap(({ name, title, postgres, findings }) => [
      `## ${name}`,
      `${title} Postgres: ${lines(postgres).join(', ')}.`,
      ...findings.map(tableMarkdown),
    ]),
    '',
  ].join('\n\n')
}
