/**
 * Tells open pages that something changed. While somebody looks, the newest rows are read every two
 * seconds, once for all pages of a tenant; while nobody does, nothing is.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Identity } from '../access/identity.ts'
import { changesBetween, type Newest } from './newest.ts'
import { HintStream } from './stream.ts'

const LOOK_EVERY_MS = 2000
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
  timer: NodeJS.Timeout
  isLooking: boolean
}

export class Live {
  #parts: LiveParts
  #audiences = new Map<string | null, Audience>()

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

  close(): void {
    for (const { streams, timer } of this.#audiences.values()) {
      clearInterval(timer)
      for (const stream of streams) stream.end()
    }
    this.#audiences.clear()
  }

  #audienceOf(tenant: string | null): Audience {
    const known = this.#audiences.get(tenant)
    if (known) return known
    const timer = setInterval(() => void this.#look(tenant), LOOK_EVERY_MS)
    timer.unref()
    const audience: Audience = { streams: new Set(), before: undefined, timer, isLooking: false }
    this.#audiences.set(tenant, audience)
    void this.#look(tenant)
    return audience
  }

  #leave(tenant: string | null, stream: HintStream): void {
    const audience = this.#audiences.get(tenant)
    audience?.streams.delete(stream)
    if (audience?.streams.size !== 0) return
    clearInterval(audience.timer)
    this.#audiences.delete(tenant)
  }

  async #look(tenant: string | null): Promise<void> {
    const audience = this.#audiences.get(tenant)
    if (!audience || audience.isLooking) return
    audience.isLooking = true
    try {
      const now = await this.#parts.findNewest(tenant)
      const changed = audience.before && changesBetween(audience.before, now)
      audience.before = now
      if (changed) for (const stream of audience.streams) stream.hint(changed)
    } catch (err) {
      this.#parts.log.debug({ err }, 'the console cannot look for changes: it looks again')
    } finally {
      audience.isLooking = false
    }
  }
}
