/**
 * What `grant_allowances` does in Postgres, for one limit or quota, in memory and with a clock that is
 * passed in: a model of processes then needs no database. A test compares the two.
 */
import { leaseMsOf } from '../../../packages/auth/src/limits/lease.ts'
import type { Answer, AllowanceRequest } from '../../../packages/auth/src/tables/allowance-terms.ts'

interface Entry {
  at: number
  count: number
}

interface Holder {
  id: string
  held: number
  until: number
}

interface Terms {
  holder: string
  lateMs: number
  now: number
}

export class Ledger {
  #windows = new Map<string, { entries: Entry[]; holders: Holder[] }>()
  #quotas = new Map<string, { start: number; granted: number }>()

  take(request: AllowanceRequest, terms: Terms): Answer {
    return typeof request.rule.period === 'number'
      ? this.#takeOfWindow(request, terms)
      : this.#takeOfQuota(request, terms)
  }

  #takeOfWindow(request: AllowanceRequest, { holder, lateMs, now }: Terms): Answer {
    const { subject, period, limit } = request.rule
    const id = `${subject}/${period}`
    const stored = this.#windows.get(id) ?? { entries: [], holders: [] }
    const row = structuredClone(stored)
    const windowMs = Number(period) * 1000
    const leaseMs = leaseMsOf(windowMs)
    const sliceMs = limit > 128 ? windowMs / 128 : Number.NaN
    for (const { stamp, count } of request.returns) {
      // It has left the window: a later grant would become less.
      if (stamp + windowMs <= now) continue
      const later = row.entries.filter(({ at }) => at >= stamp)
      const entry = later.toSorted((one, other) => one.at - other.at)[0]
      if (entry) entry.count = Math.max(0, entry.count - count)
    }
    const isRestored =
      row.entries.some(({ at }) => at > now + 5000) ||
      row.holders.some((one) => one.id !== holder && one.until > now + leaseMs)
    for (const entry of row.entries) if (entry.at > now + 5000) entry.at = now + 2000
    row.entries = row.entries.filter(({ at, count }) => at + windowMs > now && count > 0)
    const used = sumOf(row.entries.map(({ count }) => count))
    const unsure = sumOf(row.entries.filter(({ at }) => at > now).map(({ count }) => count))
    const granted = Math.max(0, Math.min(request.want, limit - used))
    row.holders = row.holders
      .filter((one) => one.id !== holder && one.until > now)
      .map((one) => ({ ...one, until: Math.min(one.until, now + leaseMs) }))
    const others = sumOf(row.holders.map(({ held }) => held))
    const most = limit > 10 ? Math.floor(limit / 10) : 0
    const share = Math.ceil(most / (row.holders.length + 1))
    const room = Math.min(share, most - others) - request.held
    const ahead = Math.max(0, Math.min(request.ahead, limit - used - granted, room))
    const validMs = leaseMs
    if (request.ahead > 0 || request.held + ahead > 0) {
      row.holders.push({ id: holder, held: request.held + ahead, until: now + validMs })
    }
    let stamp = now + lateMs
    if (granted + ahead > 0) {
      const slice = Math.floor(stamp / sliceMs)
      const same = row.entries.findLast(({ at }) => Math.floor(at / sliceMs) === slice)
      if (same) {
        same.at = Math.max(same.at, stamp)
        same.count += granted + ahead
        stamp = same.at
      } else row.entries.push({ at: stamp, count: granted + ahead })
    }
    const first = Math.min(...row.entries.map(({ at }) => at))
    const retryMs = row.entries.length === 0 ? null : Math.max(0, first + windowMs - now)
    const isChanged = granted + ahead > 0 || request.returns.length > 0 || isRestored
    if (isChanged || heldIn(row.holders) !== heldIn(stored.holders)) this.#windows.set(id, row)
    const all = used + granted + ahead
    return { granted, ahead, stamp, used: all, validMs, retryMs, othersHold: others + unsure }
  }

  #takeOfQuota(request: AllowanceRequest, { now }: Terms): Answer {
    const { subject, period, limit } = request.rule
    const id = `${subject}/${period}`
    const row = this.#quotas.get(id) ?? { start: -Infinity, granted: 0 }
    this.#quotas.set(id, row)
    const start = startOf(String(period), now)
    if (row.start < start) Object.assign(row, { start, granted: 0 })
    for (const { stamp, count } of request.returns) {
      if (stamp === row.start) row.granted = Math.max(0, row.granted - count)
    }
    let [granted, unspent, isShort] = [0, request.held, false]
    for (const { cost, times } of request.needs) {
      const most = Math.trunc(Math.max(0, limit - row.granted - granted + unspent) / cost)
      const passed = Math.min(times, most)
      if (passed < times) isShort = true
      granted += Math.max(0, passed * cost - unspent)
      unspent = Math.max(0, unspent - passed * cost)
    }
    const left = limit - row.granted - granted
    const ahead = isShort ? 0 : Math.max(0, Math.min(request.ahead, Math.trunc(left / 10)))
    row.granted += granted + ahead
    const end = endOf(String(period), row.start)
    const validMs = end === null ? null : end - now
    const { start: stamp, granted: used } = row
    return { granted, ahead, stamp, used, validMs, retryMs: validMs, othersHold: 0 }
  }
}

const heldIn = (holders: Holder[]): string => holders.map(({ id, held }) => `${id} ${held}`).join()

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
