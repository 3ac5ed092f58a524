/**
 * The feed: the events in the order of their commits, for readers that come back for more. Readers that have
 * read all wait in their process for the next event, and one statement reads for all of them.
 */
import { loggable } from '../postgres/loggable-error.ts'
import type { Notifications } from '../postgres/notifications.ts'
import type { Database } from '../postgres/pools.ts'
import type { Db } from '../postgres/transaction.ts'
import { WAKE_CHANNEL } from '../jobs/worker-notifications.ts'
import { Timer, within } from '../time.ts'
import { reaches, type Reach } from '../tenants/tenants.ts'
import { isMeantBy } from './event-patterns.ts'
import {
  declaredEvents,
  FEED,
  feedEnd,
  findFeedEvents,
  readFeed,
  setAwaitsEvents,
  type FeedPage,
  type FeedRow,
  type Place,
} from './feed-table.ts'

export interface FeedReader {
  /** Names and patterns, of the events that some process makes deliveries of. */
  names: ReadonlySet<string>
  reach: Reach
  limit: number
  /** Which of them. @default all */
  wants?: ((event: FeedRow) => Promise<boolean>) | undefined
}

export interface FeedPart {
  events: FeedRow[]
  /** The place to go on after. */
  to: Place
  hasMore: boolean
}

/**
 * Old events after the place of a reader were deleted, or the feed of a server that took over does not have
 * this place.
 */
export class FeedDeleted extends Error {
  readonly oldest: Place

  constructor(oldest: Place) {
    super('events after this place of the feed were deleted, or lost')
    this.oldest = oldest
  }
}

type InTurn = (read: () => Promise<FeedPart>) => Promise<FeedPart>

interface Waiting {
  reader: FeedReader
  after: Place
  answer: (part: FeedPart) => void
}

/** Of one statement, where not all of them are wanted. */
const READ_AT_A_TIME = 500
/** A reader that wants few of many events gets an empty part after so long, and goes on from there. */
const LONGEST_READ_MS = 1000
/** While events come all the time, the readers that wait for others are asked for so often. */
const PAUSE_MS = 50
/** How often a process with readers reads without a notification, which may be lost. */
const CHECK_MS = 10_000
/** The same behind a pooler, where there are no notifications. */
const POLL_MS = 1000
/** How long a process counts as one with readers after the last one has gone. */
const AWAITS_MS = 30_000

interface Parts {
  database: Pick<Database, 'pooled'>
  readDb: Db
  requestDb: Db
  notifications: Pick<Notifications, 'listen' | 'onConnect'>
  lease: { id: string }
  log: Record<'warn', (details: object, message: string) => void>
}

export class Feed {
  /** Where it is read over HTTP, with the prefix of the host's plugin; `null` where it is not. */
  path: string | null = null
  #parts: Parts
  #waiting = new Set<Waiting>()
  #isListening = false
  #isClosed = false
  /** Whether the row of this process has it as one with readers. */
  #awaits = false
  /** Reads, and looks whether there is something to read once more. */
  #looking: Promise<void> | undefined
  #isNew = false
  #notified = 0
  #lookedAt = -Infinity
  #soon = new Timer(() => this.#lookNow())
  #check = new Timer(() => this.#checkAgain())
  #idle = new Timer(() => this.#end())
  /** The one that the readers that wait have read from. */
  #server: string | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  end(): Promise<Place> {
    return feedEnd(this.#parts.readDb)
  }

  /**
   * The events after a place; `null`: from the oldest one that is kept. Where there are none yet that the
   * reader wants, it waits for so many milliseconds, as long as the host does not close and `gone` does not abort.
   * `inTurn` runs each read, and no wait.
   *
   * @throws FeedDeleted
   */
  async follow(
    after: Place | null,
    reader: FeedReader,
    { ms, gone, inTurn }: { ms: number; gone?: AbortSignal | undefined; inTurn: InTurn },
  ): Promise<FeedPart> {
    const endMs = performance.now() + ms
    for (let from = after; ;) {
      const notified = this.#notified
      const part = await inTurn(() => this.#read(from, reader))
      const leftMs = endMs - performance.now()
      if (part.events.length > 0 || leftMs <= 0 || this.#isClosed || gone?.aborted) return part
      if (!part.hasMore) return this.#next(part.to, reader, { ms: leftMs, gone, notified })
      from = part.to
    }
  }

  async #read(after: Place | null, reader: FeedReader): Promise<FeedPart> {
    const endMs = performance.now() + LONGEST_READ_MS
    const limit = reader.wants ? READ_AT_A_TIME : reader.limit
    const names = [...reader.names]
    let to = after ?? { position: 0, mark: null }
    for (;;) {
      const span = { after: to, names, tenant: reader.reach, limit }
      const page = await readFeed(this.#parts.readDb, span)
      if (page.deletedTo > to.position || to.position > page.last || !page.isKnown) {
        const oldest = { position: page.deletedTo, mark: null }
        if (after !== null) throw new FeedDeleted(oldest)
        to = oldest
        continue
      }
      const part = await partOf(page, to, reader)
      if (part.events.length > 0 || !part.hasMore || performance.now() > endMs) return part
      ;({ to } = part)
    }
  }

  async #next(
    after: Place,
    reader: FeedReader,
    { ms, gone, notified }: { ms: number; gone: AbortSignal | undefined; notified: number },
  ): Promise<FeedPart> {
    const { promise, resolve } = Promise.withResolvers<FeedPart>()
    const waiting: Waiting = { reader, after, answer: resolve }
    const nothing = () => ({ events: [], to: waiting.after, hasMore: false })
    const end = () => resolve(nothing())
    gone?.addEventListener('abort', end)
    this.#waiting.add(waiting)
    this.#idle.clear()
    this.#begin()
    // There was an event between its read and now.
    if (notified !== this.#notified) this.#look()
    try {
      return await within(ms, promise, nothing)
    } finally {
      gone?.removeEventListener('abort', end)
      this.#waiting.delete(waiting)
      if (this.#waiting.size === 0) this.#rest()
    }
  }

  names(): Promise<string[]> {
    return declaredEvents(this.#parts.readDb)
  }

  find(names: readonly string[], ids: readonly string[]): Promise<FeedRow[]> {
    return findFeedEvents(this.#parts.readDb, names, ids)
  }

  /** Answers all that wait, and those that come from now on. */
  close(): void {
    this.#isClosed = true
    for (const { answer, after } of this.#waiting) answer({ events: [], to: after, hasMore: false })
    for (const timer of [this.#soon, this.#check, this.#idle]) timer.clear()
  }

  /** The first reader makes the others' publishes notify this process. */
  #begin(): void {
    const { notifications, database } = this.#parts
    if (!this.#isListening) {
      this.#isListening = true
      const look = () => {
        this.#notified++
        this.#look()
      }
      notifications.listen(WAKE_CHANNEL, (queue) => queue === FEED && look())
      notifications.onConnect(look)
    }
    if (this.#check.isSet) return
    this.#check.set(database.pooled ? POLL_MS : CHECK_MS)
    if (!database.pooled && !this.#awaits) void this.#announce()
  }

  /** An event whose publish did not see it yet is found by the reads that follow. */
  async #announce(): Promise<void> {
    const { requestDb, lease, log } = this.#parts
    try {
      await setAwaitsEvents(requestDb, lease.id, true)
      this.#awaits = true
      this.#look()
      this.#soon.set(POLL_MS)
    } catch (error) {
      log.warn(
        { err: loggable(error) },
        'could not note that readers of the feed wait in this process; it tries again',
      )
    }
  }

  async #checkAgain(): Promise<void> {
    if (this.#isClosed || this.#waiting.size === 0) return
    this.#awaits = false
    this.#begin()
    if (this.#parts.database.pooled) this.#look()
  }

  #rest(): void {
    this.#idle.clear()
    this.#idle.set(AWAITS_MS)
  }

  /** The last reader has gone a while ago: publishes need not notify this process. */
  #end(): void {
    if (this.#waiting.size > 0 || this.#isClosed || !this.#awaits) return
    this.#awaits = false
    const { requestDb, lease } = this.#parts
    setAwaitsEvents(requestDb, lease.id, false).catch(() => {})
  }

  #look(): void {
    if (this.#waiting.size === 0 || this.#isClosed) return
    this.#isNew = true
    if (this.#looking || this.#soon.isSet) return
    const pauseMs = this.#lookedAt + PAUSE_MS - performance.now()
    if (pauseMs <= 0) return this.#lookNow()
    this.#soon.set(pauseMs)
  }

  #lookNow(): void {
    this.#soon.clear()
    if (this.#looking || this.#waiting.size === 0 || this.#isClosed) return
    this.#isNew = false
    this.#looking = this.#readForAll()
      .catch((error) => {
        this.#parts.log.warn({ err: loggable(error) }, 'could not read the feed; it tries again')
      })
      .finally(() => {
        this.#looking = undefined
        this.#lookedAt = performance.now()
        if (this.#isNew) this.#look()
      })
  }

  async #readForAll(): Promise<void> {
    for (let hasMore = true; hasMore && !this.#isClosed && this.#waiting.size > 0;) {
      const all = [...this.#waiting]
      const after = all.map((one) => one.after).reduce(firstOf)
      const names = [...new Set(all.flatMap(({ reader }) => [...reader.names]))]
      const span = { after, names, tenant: null, limit: READ_AT_A_TIME }
      const page = await readFeed(this.#parts.readDb, span)
      const isOther = page.server !== this.#server && this.#server !== undefined
      this.#server = page.server
      // It may lack events that these have read: each comes again, and is told.
      if (isOther) {
        for (const one of all) one.answer({ events: [], to: one.after, hasMore: false })
        return
      }
      await Promise.all(
        all.map(async (one) => {
          const part = await partOf(page, one.after, one.reader)
          one.after = part.to
          if (part.events.length > 0) one.answer(part)
        }),
      )
      hasMore = page.hasMore
    }
  }
}

/** What a page has for one reader, who has read as far as `after`. */
async function partOf(page: FeedPage, after: Place, reader: FeedReader): Promise<FeedPart> {
  const events: FeedRow[] = []
  for (const event of page.events) {
    const { position, name, tenant } = event
    if (
      position <= after.position ||
      !isMeantBy(reader.names, name) ||
      !reaches(reader.reach, tenant)
    )
      continue
    if (reader.wants && !(await reader.wants(event))) continue
    if (events.length === reader.limit) {
      return { events, to: placeOf(events.at(-1) ?? after), hasMore: true }
    }
    events.push(event)
  }
  const to = page.to > after.position ? { position: page.to, mark: page.mark } : after
  return { events, to, hasMore: page.hasMore }
}

const placeOf = ({ position, mark }: Place): Place => ({ position, mark })

const firstOf = (one: Place, other: Place): Place => (other.position < one.position ? other : one)
