/** Writes the log of inbound requests. */
import { uuidv7, type Alongside, type Core, type PublishedOrTaken } from '@svc/core/internal'
import {
  insertInboundRows,
  insertWithEvents,
  type InboundRow,
  type LoggedOutcome,
} from '../tables/inbound-log.ts'
import { maskedHeaders } from './masked-headers.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'
import type { Plan } from './to-publish.ts'
import { hiddenHeaders } from './verify/secret-headers.ts'

export interface InboundLogSettings {
  /** How long rows are kept, in days. */
  keepDays: number
  /** Whether headers and bodies are kept: a request can be replayed only then. */
  rawBodies: boolean
  /**
   * How many requests that publish nothing (refused ones, handshakes) are logged in a second at
   * most.
   */
  sampleRefused: number
}

/**
 * Rows of requests that published nothing have no transaction to be written in: they are written
 * together.
 */
const FLUSH_MS = 500
const MOST_WAITING = 1000
const LONGEST_REASON = 500

export class RequestLog {
  #core: Pick<Core, 'db' | 'log'>
  #settings: InboundLogSettings
  #waiting: InboundRow[] = []
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()
  #second = 0
  #sampled = 0

  constructor(core: Pick<Core, 'db' | 'log'>, settings: InboundLogSettings) {
    this.#core = core
    this.#settings = settings
  }

  /** The row of a request that is published, or found to be a repeat, in the same transaction. */
  alongside(source: Source, request: InboundRequest, began: number, plan: Plan): Alongside {
    const row = this.#row(source, request, began)
    return {
      write: insertInboundRows,
      insert: insertWithEvents,
      rowOf: (results: PublishedOrTaken[]): InboundRow => {
        const first = results.findIndex((result) => result !== null)
        const isRepeat = first === -1 && results.length > 0
        return {
          ...row,
          tenant: plan.tenant,
          outcome: isRepeat ? 'duplicate' : 'accepted',
          event: plan.events[Math.max(0, first)]?.name ?? null,
          eventId: results[first]?.id ?? null,
          durationMs: since(began),
        }
      },
    }
  }

  /** A request that publishes nothing. */
  note(
    source: Source,
    request: InboundRequest,
    began: number,
    outcome: LoggedOutcome,
    reason: string | null,
  ): void {
    if (outcome !== 'failed' && !this.#isSampled()) return
    if (this.#waiting.length >= MOST_WAITING) return
    const row = this.#row(source, request, began)
    this.#waiting.push({ ...row, outcome, reason: reason && storable(reason) })
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref()
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#flush()
    await this.#flushing
  }

  #isSampled(): boolean {
    const second = Math.floor(Date.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#sampled = 0
    }
    this.#sampled += 1
    return this.#sampled <= this.#settings.sampleRefused
  }

  #flush(): void {
    this.#timer = undefined
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
  }

  #row(source: Source, request: InboundRequest, began: number): InboundRow {
    const { rawBodies } = this.#settings
    return {
      id: uuidv7(),
      source: source.name,
      tenant: null,
      outcome: 'accepted',
      reason: null,
      event: null,
      eventId: null,
      ip: request.ip,
      bytes: request.rawBody?.length ?? 0,
      durationMs: since(began),
      url: rawBodies ? storable(request.url) : null,
      headers: rawBodies
        ? JSON.stringify(maskedHeaders(request.raw.rawHeaders, hiddenHeaders(source.verify)))
        : null,
      body: rawBodies ? (request.rawBody ?? null) : null,
    }
  }
}

const since = (began: number): number => Math.round(performance.now() - began)

/** Postgres stores no NUL in a text. */
const storable = (text: string): string => text.slice(0, LONGEST_REASON).replaceAll('\0', ' ')
