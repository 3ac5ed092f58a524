/** What comes in: requests with keys, and the newest inbound requests. */
import { useSession } from '../../shell/session.ts'
import { useCall } from '../../state/queries.ts'
import { href } from '../../state/router.ts'
import { Link } from '../../ui/button.tsx'
import { Panel } from '../../ui/layout.tsx'
import { Empty } from '../../ui/notes.tsx'
import { Table } from '../../ui/table.tsx'
import { CAME, OUTCOME } from '../inbound.tsx'
import { NearLimits } from '../keys/near-limits.tsx'
import { UsagePanel } from '../keys/usage-chart.tsx'

export function Traffic() {
  const { session, may } = useSession()
  const { auth, webhooks } = session.features
  return (
    <>
      {auth && may('keys:read') && <NearLimits tenant="" />}
      <div class="columns even">
        {auth && may('keys:read') && <UsagePanel title="Requests with API keys" />}
        {webhooks && may('inbound:read') && <NewestInbound />}
      </div>
    </>
  )
}

function NewestInbound() {
  const { data } = useCall('inbound.list', { limit: 5 })
  return (
    <Panel title="Came in last" flush actions={<Link to={href('inbound')}>All inbound</Link>}>
      {data && data.items.length > 0 ? (
        <Table
          label="Newest inbound requests"
          rows={data.items}
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
            OUTCOME,
            CAME,
          ]}
        />
      ) : (
        data && <Empty title="Nothing has come in yet" />
      )}
    </Panel>
  )
}
