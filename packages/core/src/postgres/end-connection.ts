import type pg from 'pg'

/** As the errors of pg itself begin, see connection-errors.ts. */
export const MOVED = 'Connection terminated: another server takes the writes'

/** A client of pg, as far as it tells what it is connected to. */
export type Connected = pg.ClientBase & {
  connection?: NodeJS.EventEmitter & {
    stream: NodeJS.EventEmitter & { bytesRead?: number; destroy(error: Error): void }
  }
}

/** Ends a connection at once: whoever waits on it gets this error. */
export function endConnection({ connection }: Connected, why: string): void {
  // One that has not begun to connect has no listener of its own.
  connection?.stream.on('error', () => {})
  connection?.stream.destroy(new Error(why))
}
