/** A tenant is a customer of the host: a string of the host's own. No table of them is kept. */
const PATTERN = /^[A-Za-z0-9_.:-]{1,64}$/

/** What a tenant must be, for messages. */
export const TENANT = '1 to 64 letters, digits, "_", ".", ":" or "-"'

export const isTenant = (value: unknown): value is string =>
  typeof value === 'string' && PATTERN.test(value)
