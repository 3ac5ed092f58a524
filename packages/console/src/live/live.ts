/**
 * Sends open pages hints of what changed. After activity of this process, or a notification of
 * another one, it reads the newest rows, once for all pages of a tenant. Without activity it reads
 * them every ten seconds, because not every change is notified. While no page is open it reads
 * nothing.
 */
import type { FastifyBaseLogger } from 'fastify'
import { Timer } from '@svc/core/internal'
import type { Identity } from '../access/identity.ts'
import { seesKeyEvents } from '../access/payload-access.ts'
import { changesBetween, type Newest } from './newest.ts'
import { HintStream } from './stream.ts'

/** How long a process counts as active: the deliveries of an event come after its publish. */
const ACTIVE_MS = 6000
const READ_WHILE_ACTIVE_MS = 2000
const READ_WHILE_IDLE_MS = 10_000
/** The shortest time between two reads. */
const PAUSE_MS = 1000
const CHECK_EVERY_MS = 10_000
/** Ends of sessions within this time are looked at together: anyone can sign out again and again. */
const ENDS_MS = 200
/** A page has one; what a browser forgot to close makes room for the next. */
const MOST_OF_SESSION = 20
/** The same for people to whom the host's `access` gives no `userId`: their pages look like one's own. */
const MOST_UNNAMED = 1000

export interface LiveParts {
  findNewest: (of: Audience['of']) => Promise<Newest>
  /** Those of the sessions that go on. */
  findSessions: (ids: readonly string[]) => Promise<ReadonlySet<string>>
  log: Pick<FastifyBaseLogger, 'debug'>
}

/** The pages of one tenant, or of the operators, that see events about keys, or do not. */
interface Audience {
  readonly of: { tenant: string | null; keyEvents: boolean }
  streams: Set<HintStream>
  before: Newest | undefined
  timer: Timer
  readAt: number
  isBeingRead: boolean
}

export class Live {
  #parts: LiveParts
  #audiences = new Map<string, Audience>()
  #activeAt = -Infinity
  #ends = new Timer(() => this.#endOthers())

  constructor(parts: LiveParts) {
    this.#parts = parts
  }

  /** `isCurrent`: whether the session is still what it was. */
  open(identity: Identity, isCurrent: () => Promise<boolean>): HintStream {
    const audience = this.#audienceOf(identity)
    const own = [...audience.streams].filter(
      ({ identity: other }) =>
        other.sessionId === identity.sessionId && other.userId === identity.userId,
    )
    const isUnnamed = identity.sessionId === null && identity.userId === null
    if (own.length >= (isUnnamed ? MOST_UNNAMED : MOST_OF_SESSION)) own[0]?.end()
    const stream = new HintStream(identity, isCurrent)
    audience.streams.add(stream)
    // Else at the end of the first read, by which changes are told.
    if (audience.before !== undefined || !audience.isBeingRead) stream.begin()
    const check = setInterval(stream.check, CHECK_EVERY_MS)
    check.unref()
    stream.body.once('close', () => {
      clearInterval(check)
      this.#leave(audience, stream)
    })
    return stream
  }

  /** Sessions have ended, here or in another process: their streams end. */
  recheck = (): void => {
    this.#ends.set(ENDS_MS)
  }

  /** One read for all streams, however many there are. */
  async #endOthers(): Promise<void> {
    const streams = [...this.#audiences.values()].flatMap((audience) => [...audience.streams])
    const ofSessions = streams.flatMap((stream) => {
      const { sessionId } = stream.identity
      return sessionId === null ? [] : [{ stream, sessionId }]
    })
    if (ofSessions.length === 0) return
    const ids = [...new Set(ofSessions.map(({ sessionId }) => sessionId))]
    // Unknown whether they go on: a page whose stream ends asks again.
    const current = await this.#parts.findSessions(ids).catch(() => new Set<string>())
    for (const { stream, sessionId } of ofSessions) if (!current.has(sessionId)) stream.end()
  }

  /** Call this on any activity. Each attempt calls it, also while no page is open. */
  notify = (): void => {
    if (this.#audiences.size === 0) return
    const now = performance.now()
    // A read that is due soon stays so: a busy process calls this many times a second.
    const wasActive = now - this.#activeAt < READ_WHILE_ACTIVE_MS
    this.#activeAt = now
    for (const audience of this.#audiences.values()) {
      if (wasActive || audience.isBeingRead) continue
      this.#readIn(audience, Math.max(0, audience.readAt + PAUSE_MS - now))
    }
  }

  close(): void {
    this.#ends.clear()
    for (const { streams, timer } of this.#audiences.values()) {
      timer.clear()
      for (const stream of streams) stream.end()
    }
    this.#audiences.clear()
  }

  #audienceOf(identity: Identity): Audience {
    const of = { tenant: identity.tenant, keyEvents: seesKeyEvents(identity) }
    const known = this.#audiences.get(keyOf(of))
    if (known) return known
    const audience: Audience = {
      of,
      streams: new Set(),
      before: undefined,
      timer: new Timer(() => this.#read(audience)),
      readAt: 0,
      isBeingRead: false,
    }
    this.#audiences.set(keyOf(of), audience)
    void this.#read(audience)
    return audience
  }

  #readIn(audience: Audience, ms: number): void {
    audience.timer.clear()
    audience.timer.set(ms)
  }

  #leave(audience: Audience, stream: HintStream): void {
    audience.streams.delete(stream)
    if (audience.streams.size > 0 || !this.#isOpen(audience)) return
    audience.timer.clear()
    this.#audiences.delete(keyOf(audience.of))
  }

  #isOpen(audience: Audience): boolean {
    return this.#audiences.get(keyOf(audience.of)) === audience
  }

  async #read(audience: Audience): Promise<void> {
    audience.isBeingRead = true
    audience.readAt = performance.now()
    try {
      const now = await this.#parts.findNewest(audience.of)
      const changed = audience.before && changesBetween(audience.before, now)
      audience.before = now
      if (changed) for (const stream of audience.streams) stream.hint(changed)
    } catch (err) {
      this.#parts.log.debug({ err }, 'the console could not read recent changes; it tries again')
    } finally {
      audience.isBeingRead = false
      for (const stream of audience.streams) stream.begin()
      if (this.#isOpen(audience)) {
        const isActive = performance.now() - this.#activeAt < ACTIVE_MS
        this.#readIn(audience, isActive ? READ_WHILE_ACTIVE_MS : READ_WHILE_IDLE_MS)
      }
    }
  }
}

const keyOf = ({ tenant, keyEvents }: Audience['of']): string => JSON.stringify([tenant, keyEvents])
