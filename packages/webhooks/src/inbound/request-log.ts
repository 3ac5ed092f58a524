/** Writes the log of inbound requests. */
import { storableText, uuidv7, type AttachedRow, type Core } from '@svc/core/internal'
import {
  LOG_INBOUND,
  rowToLog,
  type LoggedOutcome,
  type NewInboundRow,
} from '../tables/inbound-log.ts'
import { maskedHeaders } from './masked-headers.ts'
import { PerSecond } from './per-second.ts'
import { progressOf, type RequestProgress } from './request-progress.ts'
import { partsOf } from './rebuilt-request.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'
import { namesText, type Plan } from './events-of-request.ts'
import { UnwrittenRows } from './unwritten-rows.ts'
import { hiddenHeaders, shownHeaders } from './verify/secret-headers.ts'

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
  attachedRow(source: Source, request: InboundRequest, began: number, plan: Plan): AttachedRow {
    const row = this.#row(source, request, began, { verified: true, plan })
    const payloadIsBody = isPayload(row.body, plan)
    return {
      insertedBy: LOG_INBOUND,
      rowOf: (eventIds) =>
        rowToLog({
          ...row,
          events: plan.events.map(({ name }) => name),
          eventIds,
          durationMs: since(began),
          payloadIsBody,
        }),
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
    const progress = progressOf(request)
    // Each signed request that failed gets a row. The others can be sent by anyone, so their number
    // is bounded.
    const isSampled = outcome !== 'failed' || !progress.verified
    if (isSampled && !this.#samples.allows(`${outcome} ${source.name}`)) return
    if (this.#unwritten.isFull) return
    const row = this.#row(source, request, began, progress)
    this.#unwritten.add({ ...row, outcome, reason: reason && storableText(reason, LONGEST_REASON) })
  }

  /** Writes the rows that wait. */
  async close(): Promise<void> {
    await this.#unwritten.close()
  }

  #row(
    source: Source,
    request: InboundRequest,
    began: number,
    { verified, plan }: RequestProgress,
  ): NewInboundRow {
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
      headers: rawBodies ? headersText(source, request) : null,
      // With bodies of unsigned requests, any sender could fill the disk.
      body: isReplayable ? (request.rawBody ?? null) : null,
      verified,
      eventNames: isReplayable && plan ? namesText(plan) : null,
      requestParts: isReplayable ? partsOf(request) : null,
    }
  }
}

/** Whether the plan's only event has the body as its payload. */
const isPayload = (body: Buffer | null, { events }: Plan): boolean => {
  const [{ json } = { json: '' }] = events
  return (
    body !== null &&
    events.length === 1 &&
    Buffer.byteLength(json) === body.length &&
    Buffer.from(json).equals(body)
  )
}

const headersText = (source: Source, { raw }: InboundRequest): string =>
  JSON.stringify(maskedHeaders(raw.rawHeaders, hiddenHeaders(source.verify), shownHeaders(source)))

const since = (began: number): number => Math.round(performance.now() - began)
