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
import { InboundRequestNotFound, NotReplayable, SourceNotFound } from '../errors.ts'
import { replayPlanOf, type Host } from '../inbound/replay.ts'
import { sendSample, whyNotTestable, type SampleSettings } from '../inbound/sample.ts'
import type { Source } from '../inbound/sources.ts'
import {
  ConfiguredSource,
  InboundFilter,
  inboundFilter,
  InboundTest,
  InboundTestResult,
  LoggedRequest,
  ReplayResult,
} from '../inbound-schemas.ts'
import { findInboundRow, listInboundRows, type ListedRow } from '../tables/inbound-log.ts'
import { ADMIN, assertOperator, operation, type Caller } from '../caller.ts'

/**
 * Bodies of one page, in bytes: a thousand bodies of a megabyte would not fit into memory. Postgres sends
 * each byte as two characters.
 */
const PAGE_BYTES = 8 * 1024 * 1024

export function inboundOperations(
  core: Pick<Core, 'readDb' | 'bus' | 'within' | 'svc'>,
  sources: readonly Source[],
  host: Host,
  /** The option `inboundTests`. */
  areTestsAllowed = false,
) {
  const samples: SampleSettings = {
    server: host.server,
    secrets: core.svc.secrets,
    areAllowed: areTestsAllowed,
  }

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

    listSources: operation({
      input: Type.Object({}, { additionalProperties: false }),
      output: Type.Array(ConfiguredSource),
      routes: {
        'GET /inbound/sources': {
          summary: 'List the sources of inbound requests; for the operator',
          config: ADMIN,
        },
      },
      async run(by) {
        assertOperator(by)
        return await Promise.all(
          sources.map(async (source) => {
            const { name, path } = source
            return { name, path, notTestable: await whyNotTestable(source, samples) }
          }),
        )
      },
    }),

    testInbound: operation({
      input: InboundTest,
      text: 'source',
      output: InboundTestResult,
      routes: {
        'POST /inbound/sources/:source/test': {
          summary: 'Send a signed sample to a source, as its sender would; for the operator',
          config: ADMIN,
        },
      },
      async run(by, { source: name, body }) {
        assertOperator(by)
        const source = sources.find((one) => one.name === name)
        if (!source) throw new SourceNotFound(name.slice(0, 100))
        const result = await sendSample(source, samples, body)
        const { origin = BY_PROCESS } = by
        const { outcome, eventId } = result
        await core.within(undefined, (db) =>
          insertAudit(db, origin, [
            {
              tenant: null,
              action: 'inbound.test',
              target: { kind: 'inbound', id: name },
              changes: {
                outcome: { from: null, to: outcome },
                eventId: { from: null, to: eventId },
              },
            },
          ]),
        )
        return result
      },
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
