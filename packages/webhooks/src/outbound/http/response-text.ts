import { StringDecoder } from 'node:string_decoder'
import { storableText } from '@svc/core/internal'

/** How much of an answer the delivery log keeps. */
export const KEPT_BYTES = 1024

/** Counts an answer's bytes and keeps the first KiB of them as text. */
export class ResponseText {
  bytes = 0
  #text = ''
  #decoder: StringDecoder | undefined

  add(chunk: Buffer): void {
    const room = KEPT_BYTES - this.bytes
    this.bytes += chunk.length
    if (room <= 0) return
    // A character may be split between chunks or at the cut: the decoder holds an incomplete one back.
    this.#decoder ??= new StringDecoder('utf8')
    this.#text += this.#decoder.write(chunk.subarray(0, room))
  }

  toString(): string {
    return storableText(this.#text)
  }
}
