/** What the drivers beneath these libraries answer: pg an object with `rows`, postgres.js an array. */
export interface Answer {
  // oxlint-disable-next-line typescript/no-explicit-any -- a row is what its statement says
  rows: any[]
  rowCount: number | null
}

export function answerOf(result: unknown): Answer {
  const { rows, rowCount, affectedRows, count } = result as Record<string, unknown>
  return {
    rows: Array.isArray(result) ? [...(result as unknown[])] : ((rows as unknown[]) ?? []),
    rowCount:
      ([rowCount, affectedRows, count].find((n) => typeof n === 'number') as number) ?? null,
  }
}
