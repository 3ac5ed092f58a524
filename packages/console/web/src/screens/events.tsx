import type { EventQuery, PublishedEvent } from '../server/contract.ts'
import { call } from '../server/call.ts'
import { useSession } from '../shell/session.ts'
import { href, useFilters } from '../state/router.ts'
import { usePages } from '../state/use-pages.ts'
import { bytes, shortId } from '../text/format.ts'
import { Link } from '../ui/button.tsx'
import { Time } from '../ui/facts.tsx'
import { FilterBar, TextFilter, SpanFilter } from '../ui/filter-bar.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty } from '../ui/notes.tsx'
import { PagedTable } from '../ui/table.tsx'
import { TenantFilter, TenantName } from '../ui/tenant.tsx'
import { useCatalogue } from './use-catalogue.ts'

const FILTERS = ['name', 'id', 'text', 'tenant', 'since', 'until'] as const

export const eventHref = ({
  name,
  id,
  tenant,
}: Pick<PublishedEvent, 'name' | 'id' | 'tenant'>): string =>
  href(`events/${encodeURIComponent(name)}/${encodeURIComponent(id)}`, {
    tenant: tenant ?? undefined,
  })

export function EventsScreen() {
  const { values, set, clear, given, any } = useFilters(FILTERS)
  const { names } = useCatalogue()
  const { searchesPayloads } = useSession().session
  const pages = usePages(
    JSON.stringify(given),
    (after, signal) =>
      call('events.list', { ...(given as EventQuery), ...(after && { after }) }, signal),
    ['deliveries'],
  )
  return (
    <Screen title="Events" about="What the application published. Open one to see what came of it.">
      <FilterBar
        any={any}
        onClear={clear}
        moreUsed={Boolean(values.tenant || values.since || values.until)}
        more={
          <>
            <TenantFilter value={values.tenant} onValue={(tenant) => set({ tenant })} />
            <SpanFilter since={values.since} until={values.until} onSpan={set} />
          </>
        }
      >
        <TextFilter
          label="Name"
          value={values.name}
          onValue={(name) => set({ name })}
          list={names}
          placeholder="Any"
        />
        <TextFilter
          label="Event id"
          value={values.id}
          onValue={(id) => set({ id })}
          placeholder="Any"
        />
        {searchesPayloads && (
          <TextFilter
            label="In the payload"
            value={values.text}
            onValue={(text) => set({ text })}
            placeholder="3 characters or more"
          />
        )}
      </FilterBar>
      <Panel flush>
        <PagedTable
          label="Events"
          pages={pages}
          id={({ name, id, tenant }) => `${tenant}/${name}/${id}`}
          to={eventHref}
          columns={[
            {
              name: 'Event',
              kind: 'main',
              bare: true,
              cell: (row) => (
                <>
                  <Link to={eventHref(row)} class="main-line mono">
                    <bdi>{row.name}</bdi>
                  </Link>
                  <bdi class="sub-line mono" title={row.id}>
                    {shortId(row.id)}
                  </bdi>
                </>
              ),
            },
            { name: 'Tenant', cell: ({ tenant }) => <TenantName of={tenant} /> },
            { name: 'Size', kind: 'end', cell: (row) => bytes(row.bytes) },
            {
              name: 'Published',
              kind: 'end',
              cell: ({ publishedAt }) => <Time at={publishedAt} />,
            },
          ]}
          empty={
            any ? (
              <Empty title="No event matches">Clear some of the filters to see more.</Empty>
            ) : (
              <Empty title="No events yet">
                They appear here when the application calls <code>svc.events.publish</code>.
              </Empty>
            )
          }
        />
      </Panel>
    </Screen>
  )
}
