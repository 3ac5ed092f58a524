/** A statement: when it was sent and answered, and the entry of this process in its answer. */
export interface Sending {
  sentAt: number
  lateMs: number
  holder: string
  now: number
}
