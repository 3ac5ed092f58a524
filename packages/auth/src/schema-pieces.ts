import { Type } from '@sinclair/typebox'
import { NO_NUL } from '@svc/core/internal'

export const text = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: NO_NUL })
export const timestamp = () => Type.String({ format: 'date-time' })
export const closed = { additionalProperties: false }
