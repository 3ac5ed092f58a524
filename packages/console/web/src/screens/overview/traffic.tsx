/** What comes in: requests with keys, and the newest inbound requests. */
import type { InboundRequest } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { useCall } from '../../state/queries.ts'
import { href } from '../../state/router.ts'
import { Link } from '../../ui/button.tsx'
import { Panel } from '../../ui/layout.tsx'
import { Answered, Empty } from '../../ui/notes.tsx'
import { Table, type Column } from '../../ui/table.tsx'
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

const SOURCE: Column<InboundRequest> = {
  name: 'Source',
  kind: 'main',
  bare: true,
  cell: ({ source }) => (
    <Link to={href('inbound', { source })} class="main-line">
      <bdi>{source}</bdi>
    </Link>
  ),
}

function NewestInbound() {
  const newest = useCall('inbound.list', { limit: 5 })
  return (
    <Panel title="Came in last" flush actions={<Link to={href('inbound')}>All inbound</Link>}>
      <Answered of={newest} quietly>
        {({ items }) =>
          items.length > 0 ? (
            <Table label="Newest inbound requests" rows={items} columns={[SOURCE, OUTCOME, CAME]} />
          ) : (
            <Empty title="Nothing has come in yet" />
          )
        }
      </Answered>
    </Panel>
  )
}
