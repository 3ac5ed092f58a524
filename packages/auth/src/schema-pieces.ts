import { Type } from '@sinclair/typebox'
import { STORABLE_TEXT } from '@svc/core/internal'

export const text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: STORABLE_TEXT })
export const timestamp = () => Type.String({ format: 'date-time' })
export const closed = { additionalProperties: false }
