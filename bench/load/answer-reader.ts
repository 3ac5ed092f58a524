const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * Cuts a stream of bytes into HTTP answers, as cheaply as it can: a client with more comfort takes
 * as much of the machine as the server that it measures. Answers must say their length.
 */
export class AnswerReader {
  #answered: (status: number) => void
  #rest: Buffer = NOTHING

  constructor(answered: (status: number) => void) {
    this.#answered = answered
  }

  read(chunk: Buffer): void {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END)
      if (headEnd < 0) break
      const head = bytes.toString('latin1', 0, headEnd)
      const end = headEnd + HEAD_END.length + lengthIn(head)
      if (bytes.length < end) break
      bytes = bytes.subarray(end)
      this.#answered(Number(head.slice(9, 12)))
    }
    this.#rest = bytes
  }
}

function lengthIn(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return Number(length)
  if (/^HTTP\/1.1 (204|304)/.test(head)) return 0
  throw new Error(`an answer without a length: ${head.slice(0, 200)}`)
}
