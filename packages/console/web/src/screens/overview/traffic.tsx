/** What comes in: requests with keys, and the newest inbound requests. */
import { call } from '../../server/call.ts'
import { useSession } from '../../shell/session.ts'
import { href } from '../../state/router.ts'
import { useQuery } from '../../state/use-query.ts'
import { outcomeOf } from '../../text/states.ts'
import { Link } from '../../ui/button.tsx'
import { Badge, Time } from '../../ui/facts.tsx'
import { Panel } from '../../ui/layout.tsx'
import { Empty } from '../../ui/notes.tsx'
import { Table } from '../../ui/table.tsx'
import { UsagePanel } from '../keys/usage-chart.tsx'

export function Traffic() {
  const { session, may } = useSession()
  const { auth, webhooks } = session.features
  return (
    <div class="columns even">
      {auth && may('keys:read') && <UsagePanel title="Requests with API keys" />}
      {webhooks && may('inbound:read') && <NewestInbound />}
    </div>
  )
}

function NewestInbound() {
  const { data } = useQuery('inbound', (signal) => call('inbound.list', { limit: 5 }, signal), [
    'inbound',
  ])
  return (
    <Panel title="Came in last" flush actions={<Link to={href('inbound')}>All inbound</Link>}>
      {data && data.items.length > 0 ? (
        <Table
          label="Newest inbound requests"
          rows={data.items}
          id={({ id }) => id}
          columns={[
            {
              name: 'Source',
              kind: 'main',
              bare: true,
              cell: ({ source }) => (
                <Link to={href('inbound', { source })} class="main-line">
                  <bdi>{source}</bdi>
                </Link>
              ),
            },
            {
              name: 'Outcome',
              kind: 'state',
              cell: ({ outcome }) => (
                <Badge tone={outcomeOf(outcome).tone}>{outcomeOf(outcome).word}</Badge>
              ),
            },
            { name: 'Came', kind: 'end', cell: ({ at }) => <Time at={at} /> },
          ]}
        />
      ) : (
        data && <Empty title="Nothing has come in yet" />
      )}
    </Panel>
  )
}
