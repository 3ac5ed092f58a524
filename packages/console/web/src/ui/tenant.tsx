import { useSession } from '../shell/session.ts'
import { href } from '../state/router.ts'
import { Link } from './button.tsx'
import { FilterBar, TextFilter } from './filter-bar.tsx'

/** Whose something is. Only an operator sees more than one tenant. */
export function TenantName({ of }: { of: string | null }) {
  const { may } = useSession()
  if (of === null) return <span class="faint">operator</span>
  const name = (
    <bdi class="cut" title={of}>
      {of}
    </bdi>
  )
  if (!may('tenants:read')) return name
  return <Link to={href('tenants', { tenant: of })}>{name}</Link>
}

export function TenantFilter({
  value,
  onValue,
}: {
  value: string
  onValue: (value: string) => void
}) {
  const { session } = useSession()
  if (!session.operator) return null
  return <TextFilter label="Tenant" value={value} onValue={onValue} placeholder="All" />
}

/** The bar of a list whose one filter is the tenant: a tenant itself has nothing to choose. */
export function TenantFilterBar({
  value,
  onValue,
}: {
  value: string
  onValue: (value: string) => void
}) {
  const { session } = useSession()
  if (!session.operator) return null
  return (
    <FilterBar any={value !== ''} onClear={() => onValue('')}>
      <TenantFilter value={value} onValue={onValue} />
    </FilterBar>
  )
}
