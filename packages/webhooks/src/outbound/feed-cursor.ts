/** The cursors of the feed: a position in it, as a text that says nothing to its holder. */
import { InvalidCursor } from '../errors.ts'

const POSITION = /^feed:(0|[1-9]\d{0,14})$/

export const cursorOf = (position: number): string =>
  Buffer.from(`feed:${position}`).toString('base64url')

/** @throws InvalidCursor */
export function positionOf(cursor: string): number {
  const [, position] = POSITION.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  // A text with other characters in it is decoded without them.
  if (position === undefined || cursorOf(Number(position)) !== cursor) throw new InvalidCursor()
  return Number(position)
}
