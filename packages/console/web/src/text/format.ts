/** Times, numbers and sizes as the page shows them. */

const number = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const count = (value: number): string => number.format(value)
export const shortCount = (value: number): string =>
  value < 10_000 ? number.format(value) : short.format(value)

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  return span(ms / 1000)
}

/** A span in its largest unit: `3 h`. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.round(whole / 60)} min`
  if (whole < 172_800) return `${Math.round(whole / 3600)} h`
  return `${Math.round(whole / 86_400)} d`
}

export function ago(at: string | Date, now = Date.now()): string {
  const seconds = (now - new Date(at).getTime()) / 1000
  if (Math.abs(seconds) < 5) return 'just now'
  return seconds < 0 ? `in ${span(-seconds)}` : `${span(seconds)} ago`
}

/** An attempt that is due within seconds is shown as due: its time would be past before it is read. */
const SOON_MS = 5000
export const isDue = (at: string, now = Date.now()): boolean =>
  new Date(at).getTime() <= now + SOON_MS

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0')

/** In the reader's own time zone, to the millisecond: `2030-01-31 14:05:09.120`. */
export function exact(at: string | Date): string {
  const date = new Date(at)
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part))
  return `${day(date)} ${clock.join(':')}.${pad(date.getMilliseconds(), 3)}`
}

export const day = (at: string | Date): string => {
  const date = new Date(at)
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
}

export const clock = (at: string | Date): string => {
  const date = new Date(at)
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`
}

export function bytes(size: number): string {
  if (size < 1000) return plural(size, 'byte')
  if (size < 1_000_000) return `${(size / 1000).toFixed(1)} kB`
  return `${(size / 1_000_000).toFixed(1)} MB`
}

/** The end of an id: the ids of one moment begin alike. */
export const shortId = (id: string): string => (id.length > 16 ? `…${id.slice(-8)}` : id)

export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** The value of a `datetime-local` field as ISO 8601, and back. */
export const fromLocal = (local: string): string => (local ? new Date(local).toISOString() : '')
export function toLocal(iso: string): string {
  if (!iso) return ''
  const date = new Date(iso)
  return `${day(date)}T${pad(date.getHours())}:${pad(date.getMinutes())}`
}
