/** Three digits that mean something, thousands apart. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  const [whole = '', fraction] = value.toFixed(decimals).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ' ')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** A ratio: two decimals are what an hour of measuring is good for. */
export function ratio(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 10 ? figure(value) : value.toFixed(value < 0.1 ? 3 : 2)
}
