/** What this process has seen of the attempts of webhooks, and when it is to be written. No I/O. */
import type { SeenAttempts } from '../../tables/webhook-health.ts'

interface Seen {
  successAt: number | null
  failures: number
  firstFailureAt: number | null
  lastFailureAt: number | null
  isFailedProbe: boolean
  /** When it is to be written. */
  dueAt: number
}

/** The result of one attempt, as far as it is evidence about the receiver. */
export interface AttemptResult {
  webhookId: string
  hasSucceeded: boolean
  /** Whether the webhook was failing when the attempt began. */
  wasFailing: boolean
  isProbe: boolean
}

/**
 * After how long a change from working to failing, or back, is written: changes of one moment share
 * a statement.
 */
const CHANGE_MS = 200
/** The shortest pause between two writes of a webhook whose attempts go on as before. */
const SUCCESS_EVERY_MS = 5000
const FAILURE_EVERY_MS = 1000

const nothingSeen = (): Seen => ({
  successAt: null,
  failures: 0,
  firstFailureAt: null,
  lastFailureAt: null,
  isFailedProbe: false,
  dueAt: Infinity,
})

export class SeenAttemptsLog {
  #pending = new Map<string, Seen>()
  /** When each webhook was written last; only of the last seconds. */
  #writtenAt = new Map<string, number>()
  /** Failing by what this process has written: a batch of jobs may have been read before that. */
  #failing = new Set<string>()

  add({ webhookId, hasSucceeded, wasFailing, isProbe }: AttemptResult, now: number): void {
    const seen = this.#pending.get(webhookId) ?? nothingSeen()
    this.#pending.set(webhookId, seen)
    const isFailing = wasFailing || this.#failing.has(webhookId)
    if (hasSucceeded) {
      Object.assign(seen, { ...nothingSeen(), dueAt: seen.dueAt, successAt: now })
    } else {
      seen.failures++
      seen.firstFailureAt ??= now
      seen.lastFailureAt = now
      seen.isFailedProbe ||= isProbe
    }
    const isChange = isProbe || hasSucceeded === isFailing
    seen.dueAt = Math.min(seen.dueAt, this.#dueAt(webhookId, hasSucceeded, isChange, now))
  }

  /** The first moment at which something is to be written; `Infinity` where nothing is. */
  dueAt(): number {
    let first = Infinity
    for (const { dueAt } of this.#pending.values()) first = Math.min(first, dueAt)
    return first
  }

  /** Takes what is to be written by `until`. */
  take(until: number, now: number): SeenAttempts[] {
    const taken: SeenAttempts[] = []
    for (const [webhookId, seen] of this.#pending) {
      if (seen.dueAt > until) continue
      this.#pending.delete(webhookId)
      taken.push(sinceThen(webhookId, seen, now))
    }
    return taken
  }

  /** It could not be written. What was seen since then comes after it. */
  putBack(taken: SeenAttempts[], takenAt: number, dueAt: number): void {
    for (const one of taken) {
      const before = seenAt(one, takenAt, dueAt)
      const since = this.#pending.get(one.webhookId)
      this.#pending.set(one.webhookId, since ? merged(before, since) : before)
    }
  }

  written(webhookId: string, isFailing: boolean, now: number): void {
    this.#writtenAt.set(webhookId, now)
    if (isFailing) this.#failing.add(webhookId)
    else this.#failing.delete(webhookId)
  }

  /** Forgets when webhooks were written that may be written again, and webhooks that are deleted. */
  prune(deleted: Iterable<string>, now: number): void {
    for (const id of deleted) this.#failing.delete(id)
    for (const [id, at] of this.#writtenAt) {
      if (now - at < SUCCESS_EVERY_MS) return
      this.#writtenAt.delete(id)
    }
  }

  #dueAt(webhookId: string, hasSucceeded: boolean, isChange: boolean, now: number): number {
    const soon = now + CHANGE_MS
    if (isChange) return soon
    const writtenAt = this.#writtenAt.get(webhookId) ?? -Infinity
    return Math.max(soon, writtenAt + (hasSucceeded ? SUCCESS_EVERY_MS : FAILURE_EVERY_MS))
  }
}

const ageOf = (at: number | null, now: number): number | null => (at === null ? null : now - at)

const sinceThen = (webhookId: string, seen: Seen, now: number): SeenAttempts => ({
  webhookId,
  successAgoMs: ageOf(seen.successAt, now),
  failures: seen.failures,
  firstFailureAgoMs: ageOf(seen.firstFailureAt, now),
  lastFailureAgoMs: ageOf(seen.lastFailureAt, now),
  isFailedProbe: seen.isFailedProbe,
})

const seenAt = (one: SeenAttempts, now: number, dueAt: number): Seen => ({
  successAt: ageOf(one.successAgoMs, now),
  failures: one.failures,
  firstFailureAt: ageOf(one.firstFailureAgoMs, now),
  lastFailureAt: ageOf(one.lastFailureAgoMs, now),
  isFailedProbe: one.isFailedProbe,
  dueAt,
})

function merged(before: Seen, since: Seen): Seen {
  if (since.successAt !== null) return since
  return {
    successAt: before.successAt,
    failures: before.failures + since.failures,
    firstFailureAt: before.firstFailureAt ?? since.firstFailureAt,
    lastFailureAt: since.lastFailureAt ?? before.lastFailureAt,
    isFailedProbe: before.isFailedProbe || since.isFailedProbe,
    dueAt: Math.max(before.dueAt, since.dueAt),
  }
}
