/**
 * Concurrent publishes share one transaction: single publishes reach one or two thousand a second,
 * batches twenty times that. Each promise resolves after the commit that holds its event.
 *
 * The waiting events are bounded in size, and in time while Postgres does not answer.
 */
import { Unavailable } from '../errors.ts'
import { isOutage } from '../postgres/connection-errors.ts'
import { splitOnError } from '../postgres/split-batch.ts'
import { Timer } from '../time.ts'
import type { EventRow } from './events-table.ts'

interface Waiting<Event, Result> {
  event: Event
  sinceMs: number
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

export interface Committed<Result> {
  results: Result[]
  made: number
  /** The jobs that followed, also from repeats of which a subscription wants replays. */
  jobs: number
}

const LARGEST = 1000
/**
 * Jobs that follow from a batch. How many follow from an event is estimated by the last batch with
 * its name.
 */
const MOST_JOBS = 10_000
/** The estimate for an event whose name was in no batch yet. */
const JOBS_OF_UNKNOWN = 500
/** The estimate for an event of a name that had only repeats, as where events are imported again. */
const JOBS_OF_REPEATED = 50
const MOST_NAMES = 10_000
/** Characters of payload in a batch, unless a single event has more. */
const LARGEST_TEXT = 4_000_000
/** Characters of payload that wait, and what an event takes beside its payload. */
const LARGEST_WAITING = 256_000_000
const SIZE_OF_EVENT = 500
/**
 * Where a batch does not reach Postgres, the events that have waited this long fail with it: the next
 * batch may wait for a time-out of its own.
 */
const LONGEST_WAIT_MS = 1000
/**
 * How long the halves of a batch that Postgres refused, or took too long for, are tried: each may take
 * until its time-out.
 */
const LONGEST_SPLIT_MS = 60_000
/** Two, so that one batch fills while another commits. */
const IN_FLIGHT = 2
/**
 * Beside a batch of at least so many events the next one waits until it has as many, and no longer than this:
 * requests come one after another, and a batch for the first few of them costs nearly as much as for all.
 */
const FILLS_BESIDE = 8
const LONGEST_FILL_MS = 5

export class MicroBatch<Event extends EventRow, Result> {
  #commit: (events: Event[]) => Promise<Committed<Result>>
  #keyOf: (event: Event) => string
  #waiting: Waiting<Event, Result>[] = []
  #waitingSize = 0
  #inFlight = new Set<Promise<void>>()
  #last = { size: 0, sentMs: -Infinity }
  #filled = new Timer(() => this.#flush())
  /** Jobs that followed from the last events of a name, for each. */
  #jobsOf = new Map<string, number>()

  #nowMs: () => number

  /**
   * `commit` publishes a batch in a transaction of its own; two events of one batch never share the
   * key that `keyOf` gives.
   */
  constructor(
    commit: (events: Event[]) => Promise<Committed<Result>>,
    keyOf: (event: Event) => string,
    /** Monotonic. */
    nowMs: () => number = () => performance.now(),
  ) {
    this.#commit = commit
    this.#keyOf = keyOf
    this.#nowMs = nowMs
  }

  publish(event: Event): Promise<Result> {
    if (this.#waitingSize > LARGEST_WAITING) return Promise.reject(tooMany(this.#waiting.length))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push({ event, sinceMs: this.#nowMs(), resolve, reject })
    this.#waitingSize += sizeOf(event)
    const { length } = this.#waiting
    if (length === 1 || length === this.#last.size) setImmediate(() => this.#flush())
    return promise
  }

  async idle(): Promise<void> {
    while (this.#waiting.length + this.#inFlight.size > 0) {
      this.#flush()
      await Promise.all(this.#inFlight)
    }
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#inFlight.size < IN_FLIGHT) {
      const fillsMs = this.#fillsForMs()
      if (fillsMs > 0) return this.#filled.set(fillsMs)
      const batch = this.#takeDistinct()
      this.#last = { size: batch.length, sentMs: this.#nowMs() }
      const sent = this.#send(batch).finally(() => {
        this.#inFlight.delete(sent)
        this.#flush()
      })
      this.#inFlight.add(sent)
    }
  }

  /** For how long the next batch still waits for more events. */
  #fillsForMs(): number {
    const { size, sentMs } = this.#last
    const isFull = size < FILLS_BESIDE || this.#waiting.length >= size
    return this.#inFlight.size === 0 || isFull ? 0 : sentMs + LONGEST_FILL_MS - this.#nowMs()
  }

  /**
   * An event that is in the batch already waits for the next batch, which treats it as a repeat.
   */
  #takeDistinct(): Waiting<Event, Result>[] {
    const batch = new Map<string, Waiting<Event, Result>>()
    const later: Waiting<Event, Result>[] = []
    let text = 0
    let jobs = 0
    let taken = 0
    for (const one of this.#waiting) {
      text += one.event.payload.length
      jobs += this.#jobsOf.get(one.event.name) ?? JOBS_OF_UNKNOWN
      const isLarge = text > LARGEST_TEXT || jobs > MOST_JOBS
      if (taken === LARGEST || (isLarge && taken > 0)) break
      taken++
      const key = this.#keyOf(one.event)
      if (batch.has(key)) later.push(one)
      else batch.set(key, one)
    }
    this.#waiting.splice(0, taken, ...later)
    for (const { event } of batch.values()) this.#waitingSize -= sizeOf(event)
    return [...batch.values()]
  }

  async #send(batch: Waiting<Event, Result>[]): Promise<void> {
    const splitUntil = this.#nowMs() + LONGEST_SPLIT_MS
    let lastError: unknown
    const { failed } = await splitOnError(batch, async (part) => {
      if (lastError !== undefined && this.#nowMs() > splitUntil) {
        throw new Unavailable({ cause: lastError })
      }
      try {
        const { results, made, jobs } = await this.#commit(part.map(({ event }) => event))
        this.#recordJobs(part, made === 0 ? null : jobs / made)
        for (const [index, { resolve }] of part.entries()) resolve(results[index] as Result)
      } catch (error) {
        lastError = error
        throw error
      }
    })
    for (const { items, error } of failed) {
      for (const { reject } of items) reject(error)
      if (isOutage(error)) this.#giveUp(error)
    }
  }

  /** `#waiting` is in the order of arrival. */
  #giveUp(error: unknown): void {
    const latest = this.#nowMs() - LONGEST_WAIT_MS
    const kept = this.#waiting.findIndex(({ sinceMs }) => sinceMs > latest)
    const late = this.#waiting.splice(0, kept === -1 ? this.#waiting.length : kept)
    for (const { event, reject } of late) {
      this.#waitingSize -= sizeOf(event)
      reject(error)
    }
  }

  /**
   * `jobs`: of each new event on average, also where the batch has several names; `null` where none was
   * new. The next batches correct that.
   */
  #recordJobs(batch: Waiting<Event, Result>[], jobs: number | null): void {
    const each = jobs === null ? JOBS_OF_REPEATED : Math.ceil(jobs)
    for (const name of new Set(batch.map(({ event }) => event.name))) {
      if (jobs === null && this.#jobsOf.has(name)) continue
      this.#jobsOf.delete(name)
      this.#jobsOf.set(name, each)
    }
    const [oldest] = this.#jobsOf.keys()
    if (this.#jobsOf.size > MOST_NAMES && oldest !== undefined) this.#jobsOf.delete(oldest)
  }
}

const sizeOf = ({ payload }: EventRow): number => payload.length + SIZE_OF_EVENT

const tooMany = (count: number): Error =>
  new Unavailable({
    cause: new Error(`${count} publishes wait for Postgres, which is slower than they come`),
  })
