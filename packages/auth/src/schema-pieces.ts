import { Type } from '@sinclair/typebox'
import { STORABLE_TEXT } from '@svc/core/internal'

export const text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: STORABLE_TEXT })
export const timestamp = () => Type.String({ format: 'date-time' })
/** The schema of an expiry, which has errors of its own for times that cannot be stored. */
export const expiry = () => Type.String({ format: 'date-time-of-any-year' })
export const closed = { additionalProperties: false }
