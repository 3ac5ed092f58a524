import type { DeliveryQuery } from '../server/contract.ts'
import { call } from '../server/call.ts'
import { useFilters } from '../state/router.ts'
import { usePages } from '../state/use-pages.ts'
import { STATUSES } from '../text/states.ts'
import { AttemptsTable } from '../ui/attempts-table.tsx'
import { ChoiceFilter, FilterBar, TextFilter, SpanFilter } from '../ui/filter-bar.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty } from '../ui/notes.tsx'
import { TenantFilter } from '../ui/tenant.tsx'
import { WebhookFilter } from '../ui/webhook-filter.tsx'
import { useCatalogue } from './use-catalogue.ts'

const FILTERS = [
  'status',
  'event',
  'webhookId',
  'tenant',
  'statusCode',
  'eventId',
  'deliveryId',
  'since',
  'until',
] as const

export function DeliveriesScreen() {
  const { values, set, clear, given, any } = useFilters(FILTERS)
  const { names } = useCatalogue()
  const { statusCode, ...texts } = given
  const query = { ...texts, ...(statusCode && { statusCode: Number(statusCode) }) } as DeliveryQuery
  const pages = usePages(
    JSON.stringify(query),
    (after, signal) => call('deliveries.list', { ...query, ...(after && { after }) }, signal),
    ['deliveries'],
  )
  return (
    <Screen title="Deliveries" about="Every attempt to send an event to a webhook, newest first.">
      <FilterBar
        any={any}
        onClear={clear}
        moreUsed={Boolean(
          values.tenant ||
          values.statusCode ||
          values.eventId ||
          values.deliveryId ||
          values.since ||
          values.until,
        )}
        more={
          <>
            <TenantFilter value={values.tenant} onValue={(tenant) => set({ tenant })} />
            <TextFilter
              label="Status code"
              value={values.statusCode}
              onValue={(code) => set({ statusCode: code.replace(/\D/g, '') })}
              placeholder="Any"
            />
            <TextFilter
              label="Event id"
              value={values.eventId}
              onValue={(eventId) => set({ eventId })}
              placeholder="Any"
            />
            <TextFilter
              label="Delivery id"
              value={values.deliveryId}
              onValue={(deliveryId) => set({ deliveryId })}
              placeholder="Any"
            />
            <SpanFilter since={values.since} until={values.until} onSpan={set} />
          </>
        }
      >
        <ChoiceFilter
          label="State"
          value={values.status}
          choices={STATUSES}
          onValue={(status) => set({ status })}
        />
        <TextFilter
          label="Event"
          value={values.event}
          onValue={(event) => set({ event })}
          list={names}
          placeholder="Any"
        />
        <WebhookFilter value={values.webhookId} onValue={(webhookId) => set({ webhookId })} />
      </FilterBar>
      <Panel flush>
        <AttemptsTable
          pages={pages}
          without={['next']}
          empty={
            any ? (
              <Empty title="Nothing matches these filters">Clear some of them to see more.</Empty>
            ) : (
              <Empty title="No deliveries yet">
                They appear here when an event is published that a webhook asks for.
              </Empty>
            )
          }
        />
      </Panel>
    </Screen>
  )
}
