import type { Finding, Row } from '../benchmark.ts'
import { ratiosOf, summaryOf, type Summary } from '../measure/statistics.ts'
import { goalText, isReached } from './goal.ts'

/** A row with what its samples come to. */
export interface Digest extends Row, Summary {
  ratio?: Summary
  goalText?: string
  reached?: boolean
}

export function digestOf(finding: Finding): Digest[] {
  return finding.rows.map((row) => {
    const summary = summaryOf(row.samples)
    const baseline = finding.rows.find(({ name }) => name === row.against)
    const ratio = baseline && summaryOf(ratiosOf(row.samples, baseline.samples, finding.better))
    return {
      ...row,
      ...summary,
      ...(ratio ? { ratio } : {}),
      ...(row.goal
        ? {
            goalText: goalText(row.goal),
            reached: isReached(row.goal, summary.median, ratio?.median),
          }
        : {}),
    }
  })
}
