/** Text that Postgres gives back as it was. */
export const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' &&
  value.length >= 1 &&
  value.length <= longest &&
  !value.includes('\0') &&
  value.isWellFormed()
