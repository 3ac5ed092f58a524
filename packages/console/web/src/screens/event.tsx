import { useCall } from '../state/queries.ts'
import { cameFrom, usePlace } from '../state/router.ts'
import { bytes } from '../text/format.ts'
import { deliveriesTable, TO_WEBHOOK } from '../ui/attempts-table.tsx'
import { MaybeJson } from '../ui/code.tsx'
import { ExactTime, Facts, Id } from '../ui/facts.tsx'
import { Panel, Screen } from '../ui/layout.tsx'
import { Answered, Empty } from '../ui/notes.tsx'
import { PagedTable } from '../ui/table.tsx'
import { TenantName } from '../ui/tenant.tsx'

/** One event and what came of it. */
export function EventScreen({ name, id }: { name: string; id: string }) {
  const tenant = usePlace().query.get('tenant')
  const event = useCall('events.get', { name, id, ...(tenant && { tenant }) })
  return (
    <Screen
      title={<bdi>{name}</bdi>}
      back={{ to: cameFrom('events'), label: 'Events' }}
      about={<Id id={id} what="event id" whole />}
    >
      <Answered of={event}>
        {(data) => (
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
              <PagedTable
                {...deliveriesTable(['event', 'webhook', 'tenant'], TO_WEBHOOK)}
                pages={{ rows: data.attempts, reload: event.reload }}
                empty={
                  <Empty title="No attempts">
                    No webhook asked for this event, or its deliveries have not begun.
                  </Empty>
                }
              />
            </Panel>
            <Panel title="Payload">
              <MaybeJson text={JSON.stringify(data.payload)} what="payload" size={data.bytes} />
            </Panel>
          </>
        )}
      </Answered>
    </Screen>
  )
}
