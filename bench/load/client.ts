import { once } from 'node:events'
import { connect } from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * Splits a stream of bytes into HTTP messages at the lowest cost: a more comfortable parser would
 * use as much of the machine as the server that is measured.
 */
export class MessageReader {
  #lengthOf: (head: string) => number
  #complete: (head: string, body: Buffer) => void
  #rest: Buffer = NOTHING

  constructor(lengthOf: (head: string) => number, complete: (head: string, body: Buffer) => void) {
    this.#lengthOf = lengthOf
    this.#complete = complete
  }

  read(chunk: Buffer): void {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END)
      if (headEnd < 0) break
      const head = bytes.toString('latin1', 0, headEnd)
      const bodyAt = headEnd + HEAD_END.length
      const end = bodyAt + this.#lengthOf(head)
      if (bytes.length < end) break
      const body = bytes.subarray(bodyAt, end)
      bytes = bytes.subarray(end)
      this.#complete(head, body)
    }
    this.#rest = bytes
  }
}

const contentLength = (head: string) => /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]

/** Calls back with the status of each answer. */
export function answerReader(answered: (status: number) => void): MessageReader {
  return new MessageReader(answerLength, (head) => answered(Number(head.slice(9, 12))))
}

function answerLength(head: string): number {
  const length = contentLength(head)
  if (length !== undefined) return Number(length)
  if (/^HTTP\/1.1 (204|304)/.test(head)) return 0
  throw new Error(`an answer without a length: ${head.slice(0, 200)}`)
}

/** Calls back with the path and the body of each POST. */
export function requestReader(received: (path: string, body: Buffer) => void): MessageReader {
  return new MessageReader(
    (head) => Number(contentLength(head) ?? 0),
    (head, body) => received(head.slice(5, head.indexOf(' ', 5)), body),
  )
}

/** Sends a request and calls back with the status; 0 means that the connection broke. */
export type Send = (request: Buffer, answered: (status: number) => void) => void

/** Opens a kept-alive connection for one request at a time. */
export async function openConnection(port: number): Promise<{ send: Send; close(): void }> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let waiting: ((status: number) => void) | undefined
  const settle = (status: number): void => {
    const answered = waiting
    waiting = undefined
    answered?.(status)
  }
  const reader = answerReader(settle)
  socket.on('data', (chunk: Buffer) => reader.read(chunk))
  socket.on('error', () => {})
  socket.on('close', () => settle(0))
  return {
    send(request, answered) {
      if (socket.destroyed) return answered(0)
      waiting = answered
      socket.write(request)
    },
    close: () => void socket.destroy(),
  }
}
