/**
 * A body as a provider sends it: the facts of its documentation, values of our own. For tests of
 * hosts; nothing at run time reads them.
 */
export interface Sample {
  /** The event's type, as the row's `type` finds it in this sample: `push`, `invoice.paid`. */
  type: string
  /** Headers with the type or the id, beside the signature. @default none */
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string is sent as it is. */
  body: unknown
  /** @default 'application/json' */
  contentType?: string
}
