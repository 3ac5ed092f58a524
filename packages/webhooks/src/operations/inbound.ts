/** The operations on logged inbound requests. */
import { Type, type Static } from '@sinclair/typebox'
import {
  BY_PROCESS,
  checkedHostEventName,
  insertAudit,
  isUuid,
  narrowedReach,
  reaches,
  type Core,
} from '@svc/core/internal'
import { decoderOf } from '@svc/providers/internal'
import { InboundRequestNotFound, NotReplayable } from '../errors.ts'
import { replayPlanOf, type Host } from '../inbound/replay.ts'
import type { Source } from '../inbound/sources.ts'
import { InboundFilter, inboundFilter, LoggedRequest, ReplayResult } from '../inbound-schemas.ts'
import { findInboundRow, listInboundRows, type ListedRow } from '../tables/inbound-log.ts'
import { operation, type Caller } from './caller.ts'

/**
 * Bodies of one page, in bytes: a thousand bodies of a megabyte would not fit into memory. Postgres sends
 * each byte as two characters.
 */
const PAGE_BYTES = 8 * 1024 * 1024

export function inboundOperations(
  core: Pick<Core, 'readDb' | 'bus' | 'within'>,
  sources: readonly Source[],
  host: Host,
) {
  async function list(
    { reach: within }: Caller,
    { tenant, ...filter }: Static<typeof InboundFilter>,
  ): Promise<LoggedRequest[]> {
    const reach = narrowedReach(within, tenant)
    if (reach === undefined) return []
    return (await listInboundRows(core.readDb, { ...filter, reach })).map(shown)
  }

  return {
    listInbound: operation({
      input: InboundFilter,
      output: Type.Unsafe<LoggedRequest[]>(Type.Array(LoggedRequest)),
      routes: {
        'GET /inbound': {
          takes: inboundFilter,
          limit: 100,
          /** It ends before the first request whose body was left out. */
          async page(by, { limit, ...filter }) {
            const rows = await list(by, { ...filter, limit: limit + 1, bodyBytes: PAGE_BYTES })
            const firstWithout = rows.findIndex(({ bodyLeftOut }) => bodyLeftOut)
            const sent = rows.slice(0, firstWithout === -1 ? limit : firstWithout)
            return { rows: sent, hasMore: sent.length < rows.length }
          },
          summary: 'List inbound requests, newest first',
        },
      },
      run: list,
    }),

    /**
     * Publishes the events of a logged request again. Nothing is verified again, and deduplication
     * keys are ignored. A request outside of the caller's reach does not exist for it.
     */
    replayInbound: operation({
      input: Type.String({ description: 'Id of the logged request.' }),
      output: ReplayResult,
      routes: {
        'POST /inbound/:id/replay': {
          status: 202,
          summary: 'Publish what an inbound request was published as once more',
        },
      },
      async run({ reach, origin = BY_PROCESS }, id) {
        const row = isUuid(id) ? await findInboundRow(core.readDb, id) : undefined
        if (!row || !reaches(reach, row.tenant)) {
          throw new InboundRequestNotFound(id.slice(0, 40))
        }
        const source = replayable(row, sources)
        const { tenant, events } = replayPlanOf(row, source, host)
        if (events.length === 0) throw new NotReplayable('the request holds no event')
        const results = await core.within(undefined, async (db) => {
          const results = await core.bus.publish(
            events.map(({ name, json }) => ({
              name: checkedHostEventName(name),
              payload: json,
              tenant,
            })),
            { db },
          )
          await insertAudit(db, origin, [
            {
              tenant,
              action: 'inbound.replay',
              target: { kind: 'inbound', id },
              changes: { eventId: { from: row.eventId, to: results[0]?.id ?? null } },
            },
          ])
          return results
        })
        const eventIds = results.flatMap((result) => result?.id ?? [])
        const [eventId] = eventIds
        if (eventId === undefined) throw new NotReplayable('the request holds no event')
        return source.split ? { eventId, eventIds } : { eventId }
      },
    }),
  }
}

/** @throws NotReplayable */
function replayable(row: ListedRow, sources: readonly Source[]): Source {
  const { outcome, reason, body, verified } = row
  if (reason === 'handshake' && outcome === 'accepted') {
    throw new NotReplayable('it was a handshake, which publishes no event')
  }
  if (outcome === 'refused') {
    throw new NotReplayable('it was not accepted, so there is no event to publish')
  }
  if (!verified) {
    throw new NotReplayable(
      'it failed before it was verified, so that anyone may have sent it: mend what failed, and let its sender send it again',
    )
  }
  if (outcome === 'duplicate') {
    throw new NotReplayable('it repeats another request: replay that one, which was accepted')
  }
  if (body === null) {
    throw new NotReplayable(
      'its body was not kept: set inboundLog.rawBodies to replay requests that come from now on',
    )
  }
  const source = sources.find(({ name }) => name === row.source)
  if (!source) throw new NotReplayable(`this host has no source ${JSON.stringify(row.source)}`)
  return source
}

/** Of any bytes: a row does not know the charset of its body. */
const anyText = decoderOf(undefined)

function shown({
  url: _,
  verified: _verified,
  eventNames: _names,
  requestParts: _parts,
  headers,
  body,
  bodyLeftOut,
  ...row
}: ListedRow): LoggedRequest {
  return {
    ...row,
    ...(headers !== null && { headers: namedLines(JSON.parse(headers)) }),
    ...(body !== null && { body: anyText(body) }),
    ...(bodyLeftOut && { bodyLeftOut }),
  }
}

/** A repeated header becomes an array of its values. */
function namedLines(lines: string[]): Record<string, string | string[]> {
  const named: Record<string, string | string[]> = {}
  for (let line = 0; line < lines.length; line += 2) {
    const name = (lines[line] ?? '').toLowerCase()
    const value = lines[line + 1] ?? ''
    const before = Object.hasOwn(named, name) ? named[name] : undefined
    named[name] = before === undefined ? value : [before, value].flat()
  }
  return named
}
