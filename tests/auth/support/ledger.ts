/**
 * What `allot_allowances` does in Postgres, in memory and with a clock that is passed in: a model of
 * processes then needs no database. A test compares the two.
 */
import {
  idOf,
  type Answer,
  type Batch,
  type Place,
  type PlaceAnswer,
} from '../../../packages/auth/src/tables/allowances.ts'

interface Entry {
  at: number
  count: number
}

interface Holder {
  id: string
  held: number
  until: number
}

interface Window {
  entries: Entry[]
  holders: Holder[]
}

interface Quota {
  start: number
  allotted: number
}

interface Terms {
  holder: string
  lateMs: number
  now: number
}

export class Ledger {
  #windows = new Map<string, Window>()
  #quotas = new Map<string, Quota>()

  take({ holder, lateMs, places, demands }: Batch, now: number): Answer {
    const used = places.map((place) => this.#used(place, now))
    const wants = places.map(() => 0)
    const isShort = places.map(() => false)
    const passed = demands.map(({ on, needs }) => {
      const reserved = on.map((one) => one.reserved)
      return needs.map(({ cost, times }) => {
        const costAt = (place: number) => (isQuota(places[place]!) ? cost : 1)
        const passing = on.reduce((least, { place, limit }, n) => {
          const left = Math.max(0, limit - used[place]! + reserved[n]!)
          return costAt(place) === 0 ? least : Math.min(least, Math.trunc(left / costAt(place)))
        }, times)
        for (const [n, { place }] of on.entries()) {
          const allotted = Math.max(0, passing * costAt(place) - reserved[n]!)
          reserved[n] = Math.max(0, reserved[n]! - passing * costAt(place))
          used[place]! += allotted
          wants[place]! += allotted
          isShort[place] ||= passing < times
        }
        return passing
      })
    })
    const terms = { holder, lateMs, now }
    const answers = places.map((asked, n) => {
      const place = isShort[n] ? { ...asked, ahead: 0 } : asked
      return isQuota(place)
        ? this.#allotmentOfQuota(place, wants[n]!, now)
        : this.#allotmentOfWindow(place, wants[n]!, terms)
    })
    return { passed, places: answers }
  }

  #used(place: Place, now: number): number {
    if (isQuota(place)) {
      const row = this.#quotas.get(idOf(place))
      return row && row.start >= startOf(String(place.period), now) ? row.allotted : 0
    }
    const entries = this.#windows.get(idOf(place))?.entries ?? []
    const inWindow = entries.filter(({ at }) => at + windowMsOf(place) > now)
    const since = inWindow.filter(({ at }) => at >= place.stamp)
    const [all, most] = [inWindow, since].map((some) => sumOf(some.map(({ count }) => count)))
    return Math.max(0, all! - Math.min(returnedOf(place, now), most!))
  }

  #allotmentOfWindow(place: Place, want: number, { holder, lateMs, now }: Terms): PlaceAnswer {
    const { limit, held } = place
    const stored = this.#windows.get(idOf(place))
    if (stored === undefined && want === 0 && place.ahead === 0 && !place.demanded) return NOTHING
    const row = structuredClone(stored ?? { entries: [], holders: [] })
    const windowMs = windowMsOf(place)
    const holdMs = Math.min(windowMs, Math.max(60_000, Math.min(windowMs / 12, 300_000)))
    const sliceMs = limit > 128 ? windowMs / 128 : Number.NaN
    let isChanged = want > 0
    let returned = returnedOf(place, now)
    if (place.returned > 0) row.entries.sort((one, other) => one.at - other.at)
    for (const entry of row.entries) {
      if (entry.at + windowMs <= now) continue
      const less = entry.at >= place.stamp ? Math.min(returned, entry.count) : 0
      if (less > 0) isChanged = true
      returned -= less
      entry.count -= less
      if (entry.at > now + 5000) {
        entry.at = now + 2000
        isChanged = true
      }
    }
    row.entries = row.entries.filter(({ at, count }) => at + windowMs > now && count > 0)
    const used = sumOf(row.entries.map(({ count }) => count))

    const own = row.holders.find(({ id }) => id === holder)
    let validMs = own ? Math.min(own.until - now, holdMs) : null
    if (own && own.held !== held) isChanged = true
    row.holders = row.holders.filter(({ id, until }) => id !== holder && until > now)
    for (const other of row.holders) {
      if (other.until > now + holdMs) isChanged = true
      other.until = Math.min(other.until, now + holdMs)
    }
    const others = sumOf(row.holders.map((other) => other.held))
    const most = limit > 10 ? Math.floor(limit / 10) : 0
    const share = Math.ceil(most / (row.holders.length + 1))
    const room = Math.min(share, most - others) - held
    const ahead = Math.max(0, Math.min(place.ahead, limit - used - want, room))
    if (place.ahead > 0 || held > 0) {
      if (ahead > 0 || validMs === null || validMs < holdMs * 0.7) {
        validMs = holdMs
        isChanged = true
      }
      row.holders.push({ id: holder, held: held + ahead, until: now + validMs })
    }
    let stamp = now + lateMs
    if (want + ahead > 0) {
      const slice = Math.floor(stamp / sliceMs)
      const same = row.entries.findLast(({ at }) => Math.floor(at / sliceMs) === slice)
      if (same) {
        same.at = Math.max(same.at, stamp)
        same.count += want + ahead
        stamp = same.at
      } else row.entries.push({ at: stamp, count: want + ahead })
    }
    const first = Math.min(...row.entries.map(({ at }) => at))
    const retryMs = row.entries.length === 0 ? null : Math.max(0, first + windowMs - now)
    if (isChanged || stored === undefined) this.#windows.set(idOf(place), row)
    return { ahead, stamp, used: used + want + ahead, validMs, retryMs }
  }

  #allotmentOfQuota(place: Place, want: number, now: number): PlaceAnswer {
    const { limit, returned } = place
    const period = String(place.period)
    const isNew = !this.#quotas.has(idOf(place))
    const row = this.#quotas.get(idOf(place)) ?? { start: -Infinity, allotted: 0 }
    const start = Math.max(row.start, startOf(period, now))
    const end = endOf(period, start)
    const validMs = end === null ? null : end - now
    const periods = place.periods ?? [period]
    const stamp = Math.max(start, ...periods.map((one) => startOf(one, now)))
    const times = { stamp, validMs, retryMs: validMs }
    if (isNew && !place.demanded && place.ahead === 0) return { ...times, ahead: 0, used: 0 }
    let used = row.start === start ? row.allotted : 0
    if (place.stamp >= start) used = Math.max(0, used - returned)
    const ahead = Math.max(0, Math.min(place.ahead, Math.trunc((limit - used - want) / 10)))
    used += want + ahead
    this.#quotas.set(idOf(place), { start, allotted: used })
    for (const other of periods.filter((one) => one !== period)) {
      const id = idOf({
        subject: place.subject,
        period: other as NonNullable<Place['periods']>[number],
      })
      const known = this.#quotas.get(id) ?? { start: -Infinity, allotted: 0 }
      const begins = startOf(other, now)
      const before =
        known.start < begins
          ? 0
          : place.stamp < known.start
            ? known.allotted
            : Math.max(0, known.allotted - returned)
      this.#quotas.set(id, {
        start: Math.max(known.start, begins),
        allotted: before + want + ahead,
      })
    }
    return { ...times, ahead, used }
  }
}

/** A row that is only looked at, or given back to, is not made. */
const NOTHING: PlaceAnswer = { ahead: 0, stamp: 0, used: 0, validMs: null, retryMs: null }

const isQuota = ({ period }: Place): boolean => typeof period === 'string'

const windowMsOf = ({ period }: Place): number => Number(period) * 1000

/** What is taken back of a window. */
const returnedOf = (place: Place, now: number): number =>
  place.stamp + windowMsOf(place) > now ? place.returned : 0

const sumOf = (numbers: number[]): number => numbers.reduce((sum, one) => sum + one, 0)

function startOf(period: string, now: number): number {
  const date = new Date(now)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  if (period === 'total') return 0
  return Date.UTC(year, month, period === 'month' ? 1 : date.getUTCDate())
}

function endOf(period: string, start: number): number | null {
  const date = new Date(start)
  if (period === 'total') return null
  if (period === 'day') return start + 86_400_000
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}
