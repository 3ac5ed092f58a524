/** What this process has seen of the attempts of webhooks, and when it is to be written. No I/O. */
import type { SeenAttempts } from '../../tables/webhook-health.ts'

/** The receiver of attempts: a webhook may have got another address meanwhile. */
export interface Receiver {
  webhookId: string
  url: string
}

interface Seen extends Receiver {
  successAt: number | null
  failures: number
  firstFailureAt: number | null
  lastFailureAt: number | null
  isFailedProbe: boolean
  /** When it is to be written. */
  dueAt: number
}

/** The result of one attempt, as far as it is evidence about the receiver. */
export interface AttemptResult extends Receiver {
  hasSucceeded: boolean
  /** Whether the webhook was failing when the attempt began. */
  wasFailing: boolean
  isProbe: boolean
}

/**
 * After how long a change from working to failing, or back, is written at the latest: changes of so long
 * a time share a statement.
 */
export const CHANGE_MS = 200
/** The shortest pause between two writes of a webhook whose attempts go on as before. */
const SUCCESS_EVERY_MS = 5000
const FAILURE_EVERY_MS = 1000

export const keyOf = ({ webhookId, url }: Receiver): string => `${webhookId} ${url}`

const nothingSeen = ({ webhookId, url }: Receiver): Seen => ({
  webhookId,
  url,
  successAt: null,
  failures: 0,
  firstFailureAt: null,
  lastFailureAt: null,
  isFailedProbe: false,
  dueAt: Infinity,
})

/** By {@link keyOf}, of webhooks at an address. */
export class SeenAttemptsLog {
  #pending = new Map<string, Seen>()
  #firstDueAt = Infinity
  /**
   * What this process has written in the last seconds, the oldest first. A batch of jobs may have been
   * read before that.
   */
  #written = new Map<string, { at: number; isFailing: boolean }>()

  add(result: AttemptResult, now: number): void {
    const { hasSucceeded, wasFailing, isProbe } = result
    const key = keyOf(result)
    const seen = this.#pending.get(key) ?? nothingSeen(result)
    this.#pending.set(key, seen)
    const isFailing = wasFailing || this.#written.get(key)?.isFailing === true
    if (hasSucceeded) {
      Object.assign(seen, { ...nothingSeen(result), dueAt: seen.dueAt, successAt: now })
    } else {
      seen.failures++
      seen.firstFailureAt ??= now
      seen.lastFailureAt = now
      seen.isFailedProbe ||= isProbe
    }
    const isChange = isProbe || hasSucceeded === isFailing
    seen.dueAt = Math.min(seen.dueAt, this.#dueAt(key, hasSucceeded, isChange, now))
    this.#firstDueAt = Math.min(this.#firstDueAt, seen.dueAt)
  }

  /** The first moment at which something is to be written; `Infinity` where nothing is. */
  dueAt(): number {
    return this.#firstDueAt
  }

  /** Of how many webhooks it remembers what was written. */
  get size(): number {
    return this.#written.size
  }

  /** Takes what is to be written by `until`. */
  take(until: number, now: number): SeenAttempts[] {
    const taken: SeenAttempts[] = []
    for (const [key, seen] of this.#pending) {
      if (seen.dueAt > until) continue
      this.#pending.delete(key)
      taken.push(sinceThen(seen, now))
    }
    this.#findFirstDue()
    return taken
  }

  /** It could not be written. What was seen since then comes after it. */
  putBack(taken: SeenAttempts[], takenAt: number, dueAt: number): void {
    for (const one of taken) {
      const before = seenAt(one, takenAt, dueAt)
      const since = this.#pending.get(keyOf(one))
      this.#pending.set(keyOf(one), since ? merged(before, since) : before)
    }
    this.#findFirstDue()
  }

  written(receiver: Receiver, isFailing: boolean, now: number): void {
    const key = keyOf(receiver)
    // Otherwise a key would keep its place among the oldest.
    this.#written.delete(key)
    this.#written.set(key, { at: now, isFailing })
  }

  /** Forgets webhooks that are gone, and those that may be written again at once. */
  prune(gone: Iterable<Receiver>, now: number): void {
    for (const receiver of gone) this.#written.delete(keyOf(receiver))
    for (const [key, { at }] of this.#written) {
      if (now - at < SUCCESS_EVERY_MS) return
      this.#written.delete(key)
    }
  }

  #findFirstDue(): void {
    this.#firstDueAt = Infinity
    for (const { dueAt } of this.#pending.values()) {
      this.#firstDueAt = Math.min(this.#firstDueAt, dueAt)
    }
  }

  #dueAt(key: string, hasSucceeded: boolean, isChange: boolean, now: number): number {
    const soon = now + CHANGE_MS
    if (isChange) return soon
    const writtenAt = this.#written.get(key)?.at ?? -Infinity
    return Math.max(soon, writtenAt + (hasSucceeded ? SUCCESS_EVERY_MS : FAILURE_EVERY_MS))
  }
}

const ageOf = (at: number | null, now: number): number | null => (at === null ? null : now - at)

const sinceThen = (seen: Seen, now: number): SeenAttempts => ({
  webhookId: seen.webhookId,
  url: seen.url,
  successAgoMs: ageOf(seen.successAt, now),
  failures: seen.failures,
  firstFailureAgoMs: ageOf(seen.firstFailureAt, now),
  lastFailureAgoMs: ageOf(seen.lastFailureAt, now),
  isFailedProbe: seen.isFailedProbe,
})

const seenAt = (one: SeenAttempts, now: number, dueAt: number): Seen => ({
  webhookId: one.webhookId,
  url: one.url,
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
    ...since,
    successAt: before.successAt,
    failures: before.failures + since.failures,
    firstFailureAt: before.firstFailureAt ?? since.firstFailureAt,
    lastFailureAt: since.lastFailureAt ?? before.lastFailureAt,
    isFailedProbe: before.isFailedProbe || since.isFailedProbe,
    dueAt: Math.max(before.dueAt, since.dueAt),
  }
}
