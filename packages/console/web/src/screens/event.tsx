import { call } from '../server/call.ts'
import { href, usePlace } from '../state/router.ts'
import { useQuery } from '../state/use-query.ts'
import { bytes } from '../text/format.ts'
import { AttemptsTable, TO_WEBHOOK } from '../ui/attempts-table.tsx'
import { Json } from '../ui/code.tsx'
import { ExactTime, Facts, Id } from '../ui/facts.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Empty, Loading, ProblemNote } from '../ui/notes.tsx'
import { TenantName } from '../ui/tenant.tsx'

/** One event and what came of it. */
export function EventScreen({ name, id }: { name: string; id: string }) {
  const tenant = usePlace().query.get('tenant')
  const event = useQuery(
    `${tenant}/${name}/${id}`,
    (signal) => call('events.get', { name, id, ...(tenant && { tenant }) }, signal),
    ['deliveries'],
  )
  const { data } = event
  return (
    <Screen
      title={<bdi>{name}</bdi>}
      back={{ to: href('events'), label: 'Events' }}
      about={<Id id={id} what="event id" whole />}
    >
      {event.problem && <ProblemNote problem={event.problem} retry={event.reload} />}
      {event.loading && <Loading />}
      {data && (
        <>
          <Panel>
            <Facts
              rows={[
                ['Published', <ExactTime at={data.publishedAt} />],
                ['Tenant', <TenantName of={data.tenant} />],
                ['Size', bytes(data.bytes)],
              ]}
            />
          </Panel>
          <Panel title="What came of it" flush>
            <AttemptsTable
              without={['event', 'delivery', 'webhook']}
              first={TO_WEBHOOK}
              pages={{
                rows: data.attempts,
                problem: undefined,
                hasMore: false,
                isCut: false,
                loadingMore: false,
                more: () => {},
                reload: event.reload,
              }}
              empty={
                <Empty title="No attempts">
                  No webhook asked for this event, or its deliveries have not begun.
                </Empty>
              }
            />
          </Panel>
          <Panel title="Payload">
            <Json value={data.payload} what="payload" />
          </Panel>
        </>
      )}
    </Screen>
  )
}
