/** The customers and keys that have used most of what they may. */
import { useCall } from '../../state/queries.ts'
import { href } from '../../state/router.ts'
import { Link } from '../../ui/button.tsx'
import { Panel } from '../../ui/layout.tsx'
import { ProblemNote } from '../../ui/notes.tsx'
import { TenantName } from '../../ui/tenant.tsx'
import { NEAR, Used } from './used.tsx'

const MOST = 5

/** Nothing where nobody is near. */
export function NearLimits({ tenant }: { tenant: string }) {
  const { data, problem } = useCall('keys.nearLimits', { over: NEAR, ...(tenant && { tenant }) })
  if (problem && !data) {
    return (
      <Panel title="Near their limits">
        <ProblemNote problem={problem} />
      </Panel>
    )
  }
  if (!data || data.keys.length + data.tenants.length === 0) return null
  const more = data.keys.length - MOST
  return (
    <Panel title="Near their limits">
      <ul class="used-list">
        {data.tenants.slice(0, MOST).map((row) => (
          <li key={row.tenant}>
            <TenantName of={row.tenant} />
            <Used of={row} what={`Used by ${row.tenant}, of its ${row.of}`} />
          </li>
        ))}
        {data.keys.slice(0, MOST).map((row) => (
          <li key={row.keyId}>
            <Link to={href(`keys/${row.keyId}`)}>
              <bdi>{row.label ?? 'A key without a label'}</bdi>
            </Link>
            {row.tenant !== null && <TenantName of={row.tenant} />}
            <Used of={row} what={`Used of the ${row.of}`} />
          </li>
        ))}
      </ul>
      {more > 0 && (
        <p class="hint in-all">{`And ${more}${more > 90 ? ' or more' : ''} other keys.`}</p>
      )}
    </Panel>
  )
}
