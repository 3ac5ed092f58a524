import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The text of key number `n`: the shape that svcAuth mints, the same in every process. */
export function keyText(n: number): string {
  const body = createHash('md5').update(`key ${n}`).digest('hex')
  return `svc_${body}${checksumOf(body)}`
}

export const keyTexts = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => keyText(from + index))

function checksumOf(body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = DIGITS[rest % DIGITS.length] + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}
