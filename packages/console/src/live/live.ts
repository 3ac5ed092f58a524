/**
 * Tells open pages that something changed. What the process does itself, and hears from others, makes it
 * look at the newest rows, once for all pages of a tenant; where nothing stirs it looks now and then, for
 * what it cannot hear. While no page is open it never does.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Identity } from '../access/identity.ts'
import { changesBetween, type Newest } from './newest.ts'
import { HintStream } from './stream.ts'

/** For so long after something stirred: what a publish leads to comes after it. */
const STIRRED_MS = 6000
const LOOK_WHILE_STIRRED_MS = 2000
const LOOK_ELSE_MS = 10_000
/** Looks are at least so far apart. */
const PAUSE_MS = 1000
const CHECK_EVERY_MS = 10_000
/** A page has one; what a browser forgot to close makes room for the next. */
const MOST_OF_SESSION = 20

export interface LiveParts {
  findNewest: (tenant: string | null) => Promise<Newest>
  log: Pick<FastifyBaseLogger, 'debug'>
}

/** The pages of one tenant, or of the operators. */
interface Audience {
  streams: Set<HintStream>
  before: Newest | undefined
  timer: NodeJS.Timeout | undefined
  lookedAt: number
  isLooking: boolean
}

export class Live {
  #parts: LiveParts
  #audiences = new Map<string | null, Audience>()
  #stirredAt = -Infinity

  constructor(parts: LiveParts) {
    this.#parts = parts
  }

  /** `isCurrent`: whether the session is still what it was. */
  open(identity: Identity, isCurrent: () => Promise<boolean>): HintStream {
    const audience = this.#audienceOf(identity.tenant)
    const own = [...audience.streams].filter(
      ({ identity: other }) =>
        other.sessionId === identity.sessionId && other.userId === identity.userId,
    )
    if (own.length >= MOST_OF_SESSION) own[0]?.end()
    const stream = new HintStream(identity)
    audience.streams.add(stream)
    const check = setInterval(() => {
      isCurrent().then(
        (current) => current || stream.end(),
        () => stream.end(),
      )
    }, CHECK_EVERY_MS)
    check.unref()
    stream.body.once('close', () => {
      clearInterval(check)
      this.#leave(identity.tenant, stream)
    })
    return stream
  }

  /** Ends the streams of a session. */
  end(sessionId: string): void {
    for (const { streams } of this.#audiences.values()) {
      for (const stream of streams) if (stream.identity.sessionId === sessionId) stream.end()
    }
  }

  /** Something has happened: it is called for each attempt, also while no page is open. */
  stir = (): void => {
    if (this.#audiences.size === 0) return
    const now = performance.now()
    // Whoever is due soon stays so: a busy process stirs many times a second.
    const wasStirred = now - this.#stirredAt < LOOK_WHILE_STIRRED_MS
    this.#stirredAt = now
    for (const [tenant, audience] of this.#audiences) {
      if (wasStirred || audience.isLooking) continue
      this.#lookIn(tenant, audience, Math.max(0, audience.lookedAt + PAUSE_MS - now))
    }
  }

  close(): void {
    for (const { streams, timer } of this.#audiences.values()) {
      clearTimeout(timer)
      for (const stream of streams) stream.end()
    }
    this.#audiences.clear()
  }

  #audienceOf(tenant: string | null): Audience {
    const known = this.#audiences.get(tenant)
    if (known) return known
    const audience: Audience = {
      streams: new Set(),
      before: undefined,
      timer: undefined,
      lookedAt: 0,
      isLooking: false,
    }
    this.#audiences.set(tenant, audience)
    void this.#look(tenant, audience)
    return audience
  }

  #lookIn(tenant: string | null, audience: Audience, ms: number): void {
    clearTimeout(audience.timer)
    audience.timer = setTimeout(() => void this.#look(tenant, audience), ms)
    audience.timer.unref()
  }

  #leave(tenant: string | null, stream: HintStream): void {
    const audience = this.#audiences.get(tenant)
    audience?.streams.delete(stream)
    if (audience?.streams.size !== 0) return
    clearTimeout(audience.timer)
    this.#audiences.delete(tenant)
  }

  async #look(tenant: string | null, audience: Audience): Promise<void> {
    audience.isLooking = true
    audience.lookedAt = performance.now()
    try {
      const now = await this.#parts.findNewest(tenant)
      const changed = audience.before && changesBetween(audience.before, now)
      audience.before = now
      if (changed) for (const stream of audience.streams) stream.hint(changed)
    } catch (err) {
      this.#parts.log.debug({ err }, 'the console could not read recent changes; it tries again')
    } finally {
      audience.isLooking = false
      if (this.#audiences.get(tenant) === audience) {
        const isStirred = performance.now() - this.#stirredAt < STIRRED_MS
        this.#lookIn(tenant, audience, isStirred ? LOOK_WHILE_STIRRED_MS : LOOK_ELSE_MS)
      }
    }
  }
}
