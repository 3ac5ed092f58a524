const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/** Cuts a stream of bytes into POST requests, as cheaply as it can. */
export class RequestReader {
  #received: (path: string, body: Buffer) => void
  #rest: Buffer = NOTHING

  constructor(received: (path: string, body: Buffer) => void) {
    this.#received = received
  }

  read(chunk: Buffer): void {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END)
      if (headEnd < 0) break
      const head = bytes.toString('latin1', 0, headEnd)
      const bodyAt = headEnd + HEAD_END.length
      const end = bodyAt + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      if (bytes.length < end) break
      const body = bytes.subarray(bodyAt, end)
      bytes = bytes.subarray(end)
      this.#received(head.slice(5, head.indexOf(' ', 5)), body)
    }
    this.#rest = bytes
  }
}
