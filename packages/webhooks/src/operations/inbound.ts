/** The operations on logged inbound requests. */
import { isUuid, type Core } from '@svc/core/internal'
import { InboundRequestNotFound, NotReplayable } from '../errors.ts'
import { payloadOf } from '../inbound/payload.ts'
import { rebuilt } from '../inbound/rebuilt-request.ts'
import type { Source } from '../inbound/sources.ts'
import { planOf } from '../inbound/to-publish.ts'
import {
  findInboundRow,
  listInboundRows,
  type InboundFilter,
  type ListedRow,
} from '../tables/inbound-log.ts'

export interface InboundOperations {
  list: (filter?: InboundFilter) => Promise<ListedRow[]>
  /**
   * Publishes what a logged request was published as once more; nothing is verified again, and no key
   * of deduplication counts. `tenant`: only a request of this tenant is found.
   */
  replay: (id: string, tenant?: string) => Promise<{ eventId: string; eventIds?: string[] }>
}

export function createInboundOperations(
  core: Pick<Core, 'db' | 'bus'>,
  sources: readonly Source[],
): InboundOperations {
  return {
    list: (filter = {}) => listInboundRows(core.db, filter),

    async replay(id, tenant) {
      const row = isUuid(id) ? await findInboundRow(core.db, id) : undefined
      if (!row || (tenant !== undefined && row.tenant !== tenant)) {
        throw new InboundRequestNotFound(id.slice(0, 40))
      }
      const { outcome, body } = row
      if (outcome === 'refused' || row.reason === 'handshake') {
        throw new NotReplayable('the request was not accepted, so there is no event to publish')
      }
      if (body === null) {
        throw new NotReplayable(
          'its body was not kept: set inboundLog.rawBodies to replay requests that come from now on',
        )
      }
      const source = sources.find(({ name }) => name === row.source)
      if (!source) {
        throw new NotReplayable(`this host has no source ${JSON.stringify(row.source)}`)
      }
      const request = rebuilt(row, source.path)
      const text = body.toString('utf8')
      const { events } = planOf(source, request, text, payloadOf(request, text, source.readAs))
      const results = await core.bus.publishOnce(
        events.map(({ name, json }) => ({ name, payload: json, claim: null })),
      )
      const eventIds = results.flatMap((result) => result?.id ?? [])
      const [eventId] = eventIds
      if (eventId === undefined) throw new NotReplayable('the request holds no event')
      return source.split ? { eventId, eventIds } : { eventId }
    },
  }
}
