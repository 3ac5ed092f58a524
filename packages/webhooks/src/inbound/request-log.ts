/** Writes the log of inbound requests. */
import { storableText, Timer, uuidv7, type AttachedRow, type Core } from '@svc/core/internal'
import {
  insertInboundRows,
  LOG_INBOUND,
  rowToLog,
  type LoggedOutcome,
  type NewInboundRow,
} from '../tables/inbound-log.ts'
import type { Inbound } from './inbound.ts'
import type { Plan } from './receive.ts'
import { namesText, partsOf } from './replay.ts'
import type { Source } from './sources.ts'

export interface InboundLogSettings {
  /** How long rows are kept, in days. */
  keepDays: number
  /** Whether headers and bodies are kept: a request can be replayed only then. */
  rawBodies: boolean
  /**
   * At most so many rows in a second, of each source, of requests that were refused, of those that
   * failed before they were verified, and of handshakes.
   */
  sampleRefused: number
}

const LONGEST_REASON = 500
/** Unverified requests are never replayed: the beginning of their URL is enough. */
const LONGEST_URL = { verified: 16_384, unverified: 500 }

export class RequestLog {
  #settings: InboundLogSettings
  #unwritten: UnwrittenRows
  #samples: PerSecond

  constructor(core: Pick<Core, 'db' | 'log'>, settings: InboundLogSettings) {
    this.#settings = settings
    this.#unwritten = new UnwrittenRows(core)
    this.#samples = new PerSecond(settings.sampleRefused)
  }

  /** The row of a request that is published, or found to be a repeat, in the same transaction. */
  attachedRow(inbound: Inbound): AttachedRow {
    const row = this.#row(inbound)
    const events = inbound.plan?.events ?? []
    const payloadIsBody = isPayload(row.body, events)
    return {
      insertedBy: LOG_INBOUND,
      rowOf: (eventIds) =>
        rowToLog({
          ...row,
          events: events.map(({ name }) => name),
          eventIds,
          durationMs: since(inbound.began),
          payloadIsBody,
        }),
    }
  }

  /** A request that publishes nothing. */
  note(inbound: Inbound, outcome: LoggedOutcome, reason: string | null): void {
    // Each signed request that failed gets a row. The others can be sent by anyone, so their number
    // is bounded.
    const isSampled = outcome !== 'failed' || !inbound.isVerified
    if (isSampled && !this.#samples.allows(`${outcome} ${inbound.source.name}`)) return
    if (this.#unwritten.isFull) return
    const row = this.#row(inbound)
    this.#unwritten.add({ ...row, outcome, reason: reason && storableText(reason, LONGEST_REASON) })
  }

  /** Writes the rows that wait. */
  async close(): Promise<void> {
    await this.#unwritten.close()
  }

  #row({ source, request, began, isVerified: verified, plan }: Inbound): NewInboundRow {
    const { rawBodies } = this.#settings
    const isReplayable = rawBodies && verified
    const longestUrl = LONGEST_URL[verified ? 'verified' : 'unverified']
    return {
      id: uuidv7(),
      source: source.name,
      tenant: plan?.tenant ?? null,
      outcome: 'accepted',
      reason: null,
      events: [],
      eventIds: [],
      ip: request.ip,
      bytes: request.rawBody?.length ?? 0,
      durationMs: since(began),
      url: rawBodies ? storableText(request.url, longestUrl) : null,
      headers: rawBodies ? JSON.stringify(maskedHeaders(request.raw.rawHeaders, source)) : null,
      // With bodies of unsigned requests, any sender could fill the disk.
      body: isReplayable ? (request.rawBody ?? null) : null,
      verified,
      eventNames: isReplayable && plan ? namesText(plan) : null,
      requestParts: isReplayable ? partsOf(request) : null,
    }
  }
}

/** Whether the only event has the body as its payload. */
const isPayload = (body: Buffer | null, events: Plan['events']): boolean => {
  const [{ json } = { json: '' }] = events
  return (
    body !== null &&
    events.length === 1 &&
    Buffer.byteLength(json) === body.length &&
    Buffer.from(json).equals(body)
  )
}

const SECRET = /auth|cookie|sign|token|secret|hmac|key|mac$|password|jwt|verification|digest/i
/** Header names that hold one of these words and no secret. */
const PLAIN = /-(?:id|timestamp|type|version|algorithm|method|url|identifier)$/i
const MASK = '***'

/** Names and values in turn, with those masked that hold a signature or a credential. */
function maskedHeaders(
  rawHeaders: readonly string[],
  { hides, shows }: Pick<Source, 'hides' | 'shows'>,
): string[] {
  const isSecret = (name: string): boolean =>
    hides.includes(name) || (SECRET.test(name) && !PLAIN.test(name) && !shows.includes(name))
  return rawHeaders.map((text, place) =>
    place % 2 === 1 && isSecret((rawHeaders[place - 1] ?? '').toLowerCase()) ? MASK : text,
  )
}

const since = (began: number): number => Math.round(performance.now() - began)

const FLUSH_MS = 500
/** Of the rows that are not in the database yet, also while a slow insert is under way. */
const MOST_ROWS = 1000
const MOST_BYTES = 16 * 1_048_576

/**
 * Rows of requests that published nothing. They have no transaction of an event to be written in, so they are
 * collected and written together.
 */
export class UnwrittenRows {
  #core: Pick<Core, 'db' | 'log'>
  #waiting: NewInboundRow[] = []
  #rows = 0
  #bytes = 0
  #timer = new Timer(() => this.#flush())
  #flushing: Promise<void> = Promise.resolve()

  constructor(core: Pick<Core, 'db' | 'log'>) {
    this.#core = core
  }

  /** Whether there is no room for a row. */
  get isFull(): boolean {
    return this.#rows >= MOST_ROWS
  }

  /** Keeps a row until it is written, without what is large where that takes too much memory. */
  add(row: NewInboundRow): void {
    if (this.isFull) return
    const kept = this.#bytes + bytesOf(row) > MOST_BYTES ? withoutRequest(row) : row
    this.#waiting.push(kept)
    this.#rows += 1
    this.#bytes += bytesOf(kept)
    this.#timer.set(FLUSH_MS)
  }

  /** Writes the rows that wait. */
  async close(): Promise<void> {
    this.#timer.clear()
    this.#flush()
    await this.#flushing
  }

  #flush(): void {
    const rows = this.#waiting
    if (rows.length === 0) return
    this.#waiting = []
    this.#flushing = this.#flushing
      .then(() => insertInboundRows(this.#core.db, rows))
      .catch((error: Error) => {
        this.#core.log.warn(
          { reason: error.message, rows: rows.length },
          'could not write rows of the inbound log; they are lost',
        )
      })
      .finally(() => {
        this.#rows -= rows.length
        for (const row of rows) this.#bytes -= bytesOf(row)
      })
  }
}

const bytesOf = ({ url, headers, body, eventNames, requestParts }: NewInboundRow): number =>
  [url, headers, body, eventNames, requestParts].reduce((sum, part) => sum + (part?.length ?? 0), 0)

const withoutRequest = (row: NewInboundRow): NewInboundRow => ({
  ...row,
  url: null,
  headers: null,
  body: null,
  eventNames: null,
  requestParts: null,
})

/** Limits how many of a kind pass in a second. A sender must not be able to choose the kind. */
export class PerSecond {
  #most: number
  #second = 0
  #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  allows(kind: string): boolean {
    const second = Math.floor(Date.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#counts.clear()
    }
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    return count <= this.#most
  }
}
