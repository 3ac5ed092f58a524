import { Type } from '@sinclair/typebox'
import { STORABLE_TEXT, wordedPattern } from '@svc/core/internal'

export const closed = { additionalProperties: false }
/** Of an input: any text may be asked for. */
export const WebhookId = Type.String({ description: 'Id of the webhook.' })
export const Uuid = Type.String({ format: 'uuid' })
export const Time = Type.String({ format: 'date-time' })
export const EventName = Type.String({
  pattern: wordedPattern(
    '^[A-Za-z0-9_.\\-/]{1,200}$',
    '1 to 200 letters, digits, "_", ".", "-" or "/"',
  ),
})
export const text = (maxLength: number) => Type.String({ maxLength, pattern: STORABLE_TEXT })
/** Fields of the query for a list that is read in pages. */
export const paged = {
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  after: Type.Optional(Uuid),
}
/** One of these texts. */
export const oneOf = <const Value extends string>(values: readonly Value[], description?: string) =>
  Type.Unsafe<Value>({
    type: 'string',
    enum: values,
    ...(description === undefined ? {} : { description }),
  })
