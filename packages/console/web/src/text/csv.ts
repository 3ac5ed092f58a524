/** Rows as RFC 4180 has them. A column for each field; for those of an object one each, as `actor.kind`. */
export function csvOf(rows: readonly object[]): string {
  const flat = rows.map((row) => Object.fromEntries(fieldsOf(row)))
  const columns = [...new Set(flat.flatMap((row) => Object.keys(row)))]
  const lines = [columns, ...flat.map((row) => columns.map((column) => row[column]))]
  return lines.map((line) => `${line.map(cellOf).join(',')}\r\n`).join('')
}

/** Their fields are those of what was changed: one column for all. */
const WHOLE = 'changes'

const fieldsOf = (row: object): [string, unknown][] =>
  Object.entries(row).flatMap(([name, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && name !== WHOLE
      ? Object.entries(value as object).map(([inner, of]) => [`${name}.${inner}`, of])
      : [[name, value]],
  )

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // A spreadsheet would take it for a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
