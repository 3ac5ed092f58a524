import { useSession } from '../shell/session.ts'
import { href } from '../state/router.ts'
import { Link } from './button.tsx'

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
