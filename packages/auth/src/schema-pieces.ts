import { Type } from '@sinclair/typebox'

/** Postgres refuses NUL in a text. */
export const text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000]*$' })
export const timestamp = () => Type.String({ format: 'date-time' })
export const closed = { additionalProperties: false }
