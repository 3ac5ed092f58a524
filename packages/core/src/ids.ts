/** UUIDs of version 7. The package `uuid` 14 takes 3.6 µs of CPU for one, this 0.4 µs (Node 24). */
import { randomBytes } from 'node:crypto'

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** For how many ids random digits are drawn at once: each call to the kernel costs microseconds. */
const DRAWN_FOR = 512
const DIGITS_OF_ONE = 20
let drawn = ''
let used = 0

let lastMs = 0
/** The time, as the first two groups of an id. */
let time = ''
let counter = 0
const COUNTER_END = 2 ** 32

/**
 * UUIDv7 (RFC 9562, section 5.7), monotonic within a process: newest first is a sort by id. After
 * the time follows a counter of 32 bits (section 6.2, method 1), which starts at random in its
 * lower half each millisecond; the other 42 bits are random.
 */
export function uuidv7(now = Date.now()): string {
  if (used === drawn.length) draw()
  used += DIGITS_OF_ONE
  if (now > lastMs) startAt(now, Number.parseInt(drawn.slice(used - 8, used), 16) >>> 1)
  // The clock has not advanced, or was set back: the counter goes on.
  else if (++counter === COUNTER_END) startAt(lastMs + 1, 0)
  const random = Number.parseInt(drawn.charAt(used - 9), 16)
  return (
    `${time}-7${byte(counter >>> 24)}${HEX[(counter >>> 20) & 0xf]?.charAt(1)}` +
    `-${byte(0x80 | ((counter >>> 14) & 0x3f))}${byte((counter >>> 6) & 0xff)}` +
    `-${byte(((counter & 0x3f) << 2) | (random & 3))}${drawn.slice(used - 20, used - 10)}`
  )
}

function startAt(ms: number, count: number): void {
  lastMs = ms
  counter = count
  const digits = ms.toString(16).padStart(12, '0')
  time = `${digits.slice(0, 8)}-${digits.slice(8)}`
}

function draw(): void {
  drawn = randomBytes((DRAWN_FOR * DIGITS_OF_ONE) / 2).toString('hex')
  used = 0
}

const byte = (value: number): string => HEX[value] as string

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text)

/** The form in which Postgres shows a UUID: clients may write it in upper case. */
export const uuidOf = (text: unknown): string | undefined =>
  isUuid(text) ? text.toLowerCase() : undefined
