import { StringDecoder } from 'node:string_decoder'

/** So much of an answer is kept for the delivery log. */
const KEPT_BYTES = 1024

/** Counts an answer's bytes and keeps the first KiB of them as text. */
export class ResponseText {
  bytes = 0
  #text = ''
  #decoder: StringDecoder | undefined

  add(chunk: Buffer): void {
    const room = KEPT_BYTES - this.bytes
    this.bytes += chunk.length
    if (room <= 0) return
    // Across chunks and at the cut a character may be torn in two: the decoder holds back what is incomplete.
    this.#decoder ??= new StringDecoder('utf8')
    this.#text += this.#decoder.write(chunk.subarray(0, room))
  }

  /** Postgres stores no NUL in a text, so each becomes U+FFFD, like all that is not UTF-8. */
  toString(): string {
    return this.#text.replaceAll('\0', '\uFFFD')
  }
}
