/** Rows as RFC 4180 has them. A column for each field; for those of an object one each, as `actor.kind`. */
export function csvOf(rows: readonly object[]): string {
  const flat = rows.map((row) => Object.fromEntries(fieldsOf(row)))
  const columns = [...new Set(flat.flatMap((row) => Object.keys(row)))]
  const lines = [columns, ...flat.map((row) => columns.map((column) => row[column]))]
  return lines.map((line) => `${line.map(cellOf).join(',')}\r\n`).join('')
}

/** Others choose the names of their fields: one column for all. */
const WHOLE = ['changes', 'responseHeaders']

const fieldsOf = (row: object): [string, unknown][] =>
  Object.entries(row).flatMap(([name, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !WHOLE.includes(name)
      ? Object.entries(value as object).map(([inner, of]) => [`${name}.${inner}`, of])
      : [[name, value]],
  )

/** As a spreadsheet begins a formula, also in full-width characters. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
